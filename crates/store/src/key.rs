//! Keys of runs.

use std::fmt;
use std::str::FromStr;

use gleaner_domain::Digest;
use gleaner_domain::error::{Error, Result};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The key of a run: the first half of a digest of everything that its result depends on. The key is printed as
/// 32 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunKey([u8; 16]);

impl RunKey {
    /// The key of a run whose result depends only on these bytes.
    pub fn of(decisive: &[u8]) -> Self {
        let Digest(digest) = Digest::of(decisive);
        let mut half = [0; 16];
        half.copy_from_slice(&digest[..16]);
        RunKey(half)
    }

    /// The key of a run whose result depends only on this value. The key is computed from the value's JSON.
    ///
    /// # Errors
    /// The value cannot be written as JSON; for example, it is a map whose keys are not strings.
    pub fn of_json(decisive: &impl Serialize) -> Result<Self> {
        let bytes = serde_json::to_vec(decisive).map_err(|error| Error::Run(error.to_string()))?;
        Ok(RunKey::of(&bytes))
    }

    /// The bytes of the key.
    pub fn to_bytes(self) -> [u8; 16] {
        self.0
    }
}

impl fmt::Display for RunKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for RunKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for RunKey {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = "expected 32 hexadecimal digits";
        if text.len() != 32 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(wrong);
        }
        let number = u128::from_str_radix(text, 16).map_err(|_| wrong)?;
        Ok(RunKey(number.to_be_bytes()))
    }
}

impl Serialize for RunKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RunKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The published SHA-256 digest of "abc" begins with ba7816bf.
    #[test]
    fn a_key_is_half_a_digest_and_is_read_back() {
        let key = RunKey::of(b"abc");
        assert_eq!(key.to_string(), "ba7816bf8f01cfea414140de5dae2223");
        assert_eq!(key.to_string().parse(), Ok(key));
        for wrong in [
            "",
            "ba78",
            "ga7816bf8f01cfea414140de5dae2223",
            "+a7816bf8f01cfea414140de5dae2223",
        ] {
            assert!(wrong.parse::<RunKey>().is_err(), "{wrong:?}");
        }
    }
}
