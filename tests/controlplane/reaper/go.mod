module finalizers.test/reaper

go 1.26.0
