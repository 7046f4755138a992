//! One connection: reads requests and writes responses, byte by byte where a fault needs that.

use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::sleep;

use super::answer::World;
use super::list::Buffers;
use super::reply::{Delivery, End, Place, Reply, chunks};
use super::request::Recorded;
use super::running::Seen;

/// Serves a connection until one side ends it.
pub async fn serve(mut stream: TcpStream, number: usize, world: Rc<World>, seen: Arc<Seen>) {
    let _open = seen.open();
    // The fake ignores a client that disconnects; the test checks the client itself.
    let _ = answer_requests(&mut stream, number, &world, &seen).await;
}

async fn answer_requests(
    stream: &mut TcpStream,
    number: usize,
    world: &World,
    seen: &Arc<Seen>,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffers = Buffers::default();
    let mut input = Vec::new();
    while let Some(request) = read(stream, &mut input, number).await? {
        let _busy = seen.busy();
        seen.requests.lock().unwrap().push(request.clone());
        let mut reply = world.answer(&request, &mut buffers);
        let open = write(stream, &reply, world, seen).await?;
        buffers.body = std::mem::take(&mut reply.body);
        if !open {
            break;
        }
    }
    Ok(())
}

/// The next request; `None` at the end of the connection, or if it is not HTTP.
async fn read(stream: &mut TcpStream, input: &mut Vec<u8>, number: usize) -> io::Result<Option<Recorded>> {
    let end = loop {
        if let Some(at) = input.windows(4).position(|window| window == b"\r\n\r\n") {
            break at;
        }
        if stream.read_buf(input).await? == 0 {
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(&input[..end]).into_owned();
    input.drain(..end + 4);
    let Some(mut request) = Recorded::parse(&head, number) else {
        return Ok(None);
    };
    let length = request.content_length();
    while input.len() < length {
        if stream.read_buf(input).await? == 0 {
            return Ok(None);
        }
    }
    request.body = input.drain(..length).collect();
    Ok(Some(request))
}

/// Writes a response. Returns whether the connection stays open.
async fn write(stream: &mut TcpStream, reply: &Reply, world: &World, seen: &Seen) -> io::Result<bool> {
    sleep_if(reply.delay).await;
    if let Delivery::Cut(Place::BeforeHead, end) = reply.delivery {
        return finish(stream, end).await;
    }
    let head = reply.head(world.clock.now(), world.chunked);
    let chunked;
    let body = if world.chunked && reply.delivery != Delivery::Open {
        chunked = chunks(&reply.body);
        &chunked
    } else {
        &reply.body
    };
    stream.write_all(head.as_bytes()).await?;
    match reply.delivery {
        Delivery::Whole => stream.write_all(body).await?,
        Delivery::Open => {
            stream.write_all(body).await?;
            return finish(stream, End::Hang).await;
        }
        Delivery::Cut(_, end) => {
            stream.write_all(&body[..body.len() / 2]).await?;
            return finish(stream, end).await;
        }
        Delivery::Trickle(bytes, pause) => {
            for part in body.chunks(bytes.max(1)) {
                stream.write_all(part).await?;
                sleep_if(pause).await;
            }
        }
    }
    seen.body_bytes.fetch_add(body.len() as u64, Ordering::Relaxed);
    Ok(true)
}

async fn finish(stream: &mut TcpStream, end: End) -> io::Result<bool> {
    match end {
        End::Close => stream.shutdown().await?,
        End::Reset => stream.set_zero_linger()?,
        End::Hang => {
            let mut ignored = [0; 1024];
            while stream.read(&mut ignored).await? > 0 {}
        }
    }
    Ok(false)
}

async fn sleep_if(pause: std::time::Duration) {
    if !pause.is_zero() {
        sleep(pause).await;
    }
}
