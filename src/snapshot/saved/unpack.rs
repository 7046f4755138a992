//! Decompresses a snapshot, within bounds. A few kilobytes of gzip can unpack to gigabytes.

use std::io::{self, BufRead, Read};

use flate2::bufread::MultiGzDecoder;

/// How many times its packed size a snapshot may have. Those of real clusters have 10 to 30 times; gzip can pack a
/// thousand times.
const MAX_RATIO: u64 = 100;
/// Up to this size the ratio does not matter: the first kilobytes of packed data can hold much.
const ANY_RATIO: u64 = 4 << 20;
/// The largest snapshot, unpacked. Parsed, it takes several times as much memory.
const MAX_SIZE: u64 = 512 << 20;

/// The decompressed content of a snapshot.
pub(super) struct Unpacked<'r> {
    decoder: MultiGzDecoder<Counted<'r>>,
    size: u64,
}

impl<'r> Unpacked<'r> {
    pub(super) fn of(packed: &'r mut dyn BufRead) -> Self {
        Unpacked {
            decoder: MultiGzDecoder::new(Counted { packed, size: 0 }),
            size: 0,
        }
    }
}

impl Read for Unpacked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.decoder.read(buffer)?;
        self.size = self.size.saturating_add(read as u64);
        let packed = self.decoder.get_ref().size;
        let allowed = ANY_RATIO.max(packed.saturating_mul(MAX_RATIO)).min(MAX_SIZE);
        if self.size > allowed {
            let why = format!("{packed} bytes unpack to more than {} MB", allowed >> 20);
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        Ok(read)
    }
}

/// Counts the packed bytes that were read.
struct Counted<'r> {
    packed: &'r mut dyn BufRead,
    size: u64,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.packed.read(buffer)?;
        self.size = self.size.saturating_add(read as u64);
        Ok(read)
    }
}

impl BufRead for Counted<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.packed.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        self.size = self.size.saturating_add(bytes as u64);
        self.packed.consume(bytes);
    }
}
