//! Continue tokens: where a list continues.

/// Where a list continues. The token on the wire is opaque, with many characters that a query must escape.
/// kube-apiserver's tokens have none of them, but other servers behind the same address may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// The first object that was not read yet.
    pub offset: usize,
    /// The page that starts there, counted from 1.
    pub page: usize,
}

impl Cursor {
    pub const START: Cursor = Cursor { offset: 0, page: 1 };

    pub fn token(self, selectors: &str) -> String {
        format!("{}+{}/{selectors}&==", self.offset, self.page)
    }

    /// Another token for the same place, as a 410 returns it. It always differs from the used token.
    pub fn fresh_token(used: &str) -> String {
        format!("{used}=")
    }

    /// Decodes a token. `None` if it was changed, or used with other selectors.
    pub fn parse(token: &str, selectors: &str) -> Option<Self> {
        let (offset, rest) = token.split_once('+')?;
        let (page, rest) = rest.split_once('/')?;
        (rest.trim_end_matches('=').strip_suffix('&')? == selectors).then_some(())?;
        Some(Cursor {
            offset: offset.parse().ok()?,
            page: page.parse().ok()?,
        })
    }

    /// The page of a token, whatever its selectors.
    pub fn page_of(token: Option<&str>) -> usize {
        let page = |token: &str| token.split_once('+')?.1.split_once('/')?.0.parse().ok();
        token.map_or(1, |token| page(token).unwrap_or(1))
    }
}
