//! Ids of other network namespaces in this one.

use super::Route;
use super::addresses::decode;
use crate::error::Error;
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::nsid::{NsidAttribute, NsidMessage};
use std::os::fd::{AsRawFd, BorrowedFd};

impl Route {
    /// This namespace's id of another one, given by its open file; `None` if it has none.
    pub fn namespace_id(&self, namespace: BorrowedFd<'_>) -> Result<Option<i32>, Error> {
        let action = "find the number of a namespace";
        let descriptor = u32::try_from(namespace.as_raw_fd()).unwrap_or(u32::MAX);
        let mut request = NsidMessage::default();
        request.attributes = vec![NsidAttribute::Fd(descriptor)];
        let answers = self.ask(RouteNetlinkMessage::GetNsId(request), 0, action)?;
        let id = answers.iter().find_map(|answer| match decode(answer)? {
            RouteNetlinkMessage::NewNsId(message) => id(&message),
            _ => None,
        });
        Ok(id.filter(|&id| id >= 0))
    }
}

fn id(message: &NsidMessage) -> Option<i32> {
    message
        .attributes
        .iter()
        .find_map(|attribute| match attribute {
            NsidAttribute::Id(id) => Some(*id),
            _ => None,
        })
}
