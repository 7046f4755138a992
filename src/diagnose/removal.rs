//! Facts beside the verdict that decide about a removal by hand. These are values, so that `remove` and `finalize` count
//! them, and not only the advice.

pub use crate::knowledge::schema::Lost;

/// Why a controller that fails will not succeed, whatever is repaired in the cluster. Without such a reason a
/// finalizer with the verdict `failing` is never removed by hand: what its controller reports can be repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unable {
    /// It exists and cannot run, and nothing shows that it does.
    CannotRun,
    /// It reports that this does not exist any more.
    Without(Lost),
    /// It reports itself, and recently, that the object without which it never succeeds is not found; and a read shows the
    /// same. So is the volume of an attachment.
    WithoutObject,
}

/// A reason against a removal by hand that holds for every verdict, and that no accepted cost outweighs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Veto {
    /// Nobody has confirmed the uninstallation that deletes the data, or this could not be read.
    UninstallNotConfirmed,
    /// Objects still name this one as their owner, so they would be deleted with it.
    DependentsWouldGo,
    /// Objects of the type are stored, or may be. Without the type nobody can reach them.
    ObjectsStayStored,
    /// The kubelet of this node reports that the disk is in use, or the node could not be read.
    DiskInUse {
        /// The node.
        node: String,
    },
    /// Upstream forbids it while something is so, as far as the cluster shows (`never-by-hand` of the catalogue).
    ForbiddenWhile {
        /// What shows it.
        is_so: String,
        /// The consequence, in the words of the catalogue.
        because: String,
        /// What ends it.
        until: &'static str,
    },
    /// `kube-controller-manager` does not run, and everything waits for it.
    ControllerManagerStopped,
}

impl Veto {
    /// The reason in words.
    pub fn why(&self) -> String {
        match self {
            Veto::UninstallNotConfirmed => {
                "nobody has confirmed that the uninstallation may delete the data, or this could not be read"
                    .into()
            }
            Veto::DependentsWouldGo => {
                "objects still name it as their owner, and the garbage collector would delete them".into()
            }
            Veto::ObjectsStayStored => {
                "objects of this type are stored, or may be, and would stay in etcd where no API reaches them"
                    .into()
            }
            Veto::DiskInUse { node } => format!(
                "node {node} reports that the disk is in use, or could not be read, and a disk on two nodes loses its file system"
            ),
            Veto::ForbiddenWhile { is_so, because, .. } => format!("{is_so}: {because}"),
            Veto::ControllerManagerStopped => {
                "kube-controller-manager does not run, so no finalizer of Kubernetes itself is removed".into()
            }
        }
    }

    /// The condition that ends the veto.
    pub fn needs(&self) -> String {
        match self {
            Veto::UninstallNotConfirmed => "the setting that confirms it is read, and is true".into(),
            Veto::DependentsWouldGo => {
                "no object names it as its owner: take it out of their ownerReferences".into()
            }
            Veto::ObjectsStayStored => {
                "all objects of the type can be listed, and none is left; then the API server removes it"
                    .into()
            }
            Veto::DiskInUse { node } => {
                format!("node {node} no longer lists the disk in status.volumesInUse, or the node is gone")
            }
            Veto::ForbiddenWhile { until, .. } => (*until).into(),
            Veto::ControllerManagerStopped => {
                "kube-controller-manager runs again; it then removes its finalizers itself".into()
            }
        }
    }
}
