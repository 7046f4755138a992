//! The runtime of the requests.

use crate::error::Error;

/// Runs a future to completion on this thread. One thread is enough: decoding a page is faster than receiving
/// it.
pub(super) fn block_on<T>(future: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Error::Output)?;
    runtime.block_on(future)
}
