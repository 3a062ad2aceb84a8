//! Errors: what was tried, on which interface or frame, and what to do.

use coalescope_netlink as netlink;
use nix::errno::Errno;

/// A failed request to the kernel, or a batch that the lab cannot send.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The kernel refused a system call, something that was asked through netlink, or a namespace.
    #[error(transparent)]
    Kernel(#[from] netlink::Error),
    /// An offload does not have the wanted state though the kernel accepted the request.
    #[error("{link}: {feature} stays {}; the driver does not support the change", if *.on { "on" } else { "off" })]
    Feature {
        /// The interface.
        link: String,
        /// Name of the feature, as ethtool prints it.
        feature: String,
        /// The state it has.
        on: bool,
    },
    /// A batch that the oracle cannot take as one NAPI poll.
    #[error("a batch of {frames} frames; a NAPI poll takes at most {limit}: send fewer at once")]
    BatchTooLong {
        /// Frames in the batch.
        frames: usize,
        /// The most that are taken.
        limit: usize,
    },
    /// A frame that cannot be sent on Ethernet.
    #[error("frame {index} has {length} bytes; the lab sends 14 to {limit}")]
    FrameLength {
        /// Which frame of the batch, from 0.
        index: usize,
        /// Its length.
        length: usize,
        /// The most that are sent.
        limit: usize,
    },
    /// The sentinel of a batch did not come back.
    #[error(
        "the sentinel of a batch did not arrive within {seconds} s; {received} frames did: the receive queue may be too small, or the link is down"
    )]
    Lost {
        /// How long was waited.
        seconds: u64,
        /// What came.
        received: usize,
    },
    /// Frames came after the sentinel of their batch.
    #[error(
        "{frames} frames came out behind the sentinel of their batch: it was not one NAPI poll"
    )]
    Late {
        /// How many.
        frames: usize,
    },
    /// The writer of a batch lost its processor before the whole batch was sent, again and again.
    #[error(
        "the writer of a batch lost its processor in each of {attempts} attempts: the batch was not one NAPI poll; run it again when the machine has memory and processors to spare"
    )]
    Interrupted {
        /// How often the batch was sent.
        attempts: usize,
    },
    /// The thread that drives the oracle is gone.
    #[error("the thread {0} has ended; start anew")]
    ThreadGone(&'static str),
}

/// Why something of the lab cannot be used here; a reason to skip, not a failure.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
pub struct Unavailable {
    /// What is missing, and what to do.
    pub reason: String,
}

impl From<Error> for Unavailable {
    fn from(error: Error) -> Self {
        Self {
            reason: error.to_string(),
        }
    }
}

impl Error {
    /// For `map_err`: names what was tried when a system call fails.
    pub(crate) fn system(action: impl Into<String>) -> impl FnOnce(Errno) -> Self {
        let failed = netlink::Error::system(action);
        move |errno| failed(errno).into()
    }

    /// For `map_err`: names what was tried when the standard library's call fails.
    pub(crate) fn io(action: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let failed = netlink::Error::io(action);
        move |error| failed(error).into()
    }
}
