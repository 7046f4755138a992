//! The tables of the catalogue beside its finalizers: platforms that hide a part of the cluster, programs that deploy
//! objects, marks that make a controller wait, and settings that keep what an object stands for.

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{KindPattern, Mistake, Topic, glob};

/// A platform that runs a part of the cluster where its users cannot see it. Any one of the signs is enough.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Platform {
    /// The name, as in `hidden-on`.
    pub name: String,
    /// Labels of its nodes, which can contain `*`.
    #[serde(default)]
    pub node_labels: Vec<String>,
    /// What `spec.providerID` of its nodes looks like, with `*`, in lower case.
    #[serde(default)]
    pub provider_ids: Vec<String>,
    /// Parts of the version of its API server (`gitVersion`) and of its kubelets.
    #[serde(default)]
    pub versions: Vec<String>,
    /// API groups that only it serves.
    #[serde(default)]
    pub groups: Vec<String>,
    /// Domains of its provider. A finalizer or an API group in one of them may belong to a part that nobody sees.
    #[serde(default)]
    pub domains: Vec<String>,
}

/// A program that deploys objects, and usually may change every object of a cluster. It never removes a finalizer that
/// its manifest has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Deployer {
    /// The name.
    pub name: String,
    /// The repositories of its images, without registry.
    #[serde(default)]
    pub images: Vec<String>,
    /// The names of its Helm charts.
    #[serde(default)]
    pub charts: Vec<String>,
    /// Labels and annotations on each object that it deployed, which can contain `*`.
    #[serde(default)]
    pub marks: Vec<String>,
    /// Its names in `metadata.managedFields`, which can contain `*`.
    #[serde(default)]
    pub field_managers: Vec<String>,
    /// The API groups of its own objects. On those it is a controller, which removes the finalizers that it puts on.
    #[serde(default)]
    pub groups: Vec<String>,
    /// How often it applies a manifest.
    #[serde(default)]
    pub applies: Applies,
    /// How an object tells that the program installed it.
    #[serde(default)]
    pub installed: Vec<Installed>,
}

/// How an object tells that a program installed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Installed {
    /// The package in words, with `{name}` and `{namespace}`.
    pub r#as: String,
    /// Where its name stands. A label that ends in `*` has the name and the namespace in its own name.
    #[serde(flatten)]
    pub place: MarkPlace,
    /// The annotation or label with the namespace of the package.
    #[serde(default)]
    pub namespace: Option<String>,
    /// The name ends before this.
    #[serde(default)]
    pub until: Option<String>,
    /// Whether the program is installed into that namespace.
    #[serde(default)]
    pub home: bool,
}

/// How often a program applies a manifest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Applies {
    /// When a person runs it. It does not look after the object later.
    Once,
    /// When somebody or a pipeline runs it for all of its objects.
    #[default]
    OnDemand,
    /// Again whenever the object differs.
    Always,
}

/// A setting by which the owner of an object decides what becomes of the resource that it stands for, outside of the
/// cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Fate {
    /// The kinds of object that have it; any if there are none.
    #[serde(default)]
    pub kinds: Vec<KindPattern>,
    /// A field that the object must have.
    #[serde(default)]
    pub with: Option<String>,
    /// What it decides about.
    #[serde(default)]
    pub of: StandsFor,
    /// Where it stands. A field counts without a value, too; an annotation does not, because its controller has a default.
    #[serde(flatten)]
    pub place: MarkPlace,
    /// The values that keep the resource. Any other deletes it.
    #[serde(default)]
    pub keeps: Vec<String>,
    /// The values that delete the resource. Any other keeps it, unless there are values that keep it, too.
    #[serde(default)]
    pub deletes: Vec<String>,
    /// The items of a list that leave it open.
    #[serde(default)]
    pub open: Vec<String>,
    /// Files of the product that show it.
    pub sources: Vec<String>,
}

/// What an object stands for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StandsFor {
    /// A resource outside of the cluster.
    #[default]
    Outside,
    /// Objects that it applied in the cluster.
    Applied,
}

/// Words of a message after which a controller cannot succeed any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Loss {
    /// What does not exist any more.
    pub lost: Lost,
    /// The words, in lower case. The message has all of them.
    pub words: Vec<String>,
    /// Whose message it is, and where it is documented.
    pub note: String,
}

/// Words by which a message is known to be about something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TopicWords {
    /// The topic.
    pub topic: Topic,
    /// The words, in lower case. The message has any of them.
    pub words: Vec<String>,
    /// Whose messages they are.
    pub note: String,
}

/// What a controller reports as gone for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lost {
    /// The account, project or store that holds what is to be cleaned up.
    Backend,
    /// The credentials, or the account that they belong to.
    Credentials,
}

/// What a reference means that is left empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct DefaultReference {
    /// The name of the field.
    pub field: String,
    /// The kinds of object that it names.
    pub kinds: Vec<KindPattern>,
    /// The name of the object that is meant.
    #[serde(default)]
    pub named: Option<String>,
    /// The annotation with the value `true` on the object that is meant.
    #[serde(default)]
    pub annotated: Option<String>,
    /// Files of the product that show it.
    pub sources: Vec<String>,
}

/// A mark on an object by which somebody makes its controller wait.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Mark {
    /// Where it stands, and its name.
    #[serde(flatten)]
    pub place: MarkPlace,
    /// The values that count; all if there are none.
    #[serde(default)]
    pub values: Vec<String>,
    /// The other object that has the mark, for all objects that name it; none if the object has the mark itself.
    #[serde(default)]
    pub of_owner: Option<OfOwner>,
    /// The effect on the controller.
    pub means: Meaning,
    /// Files of the product that show it; none for a name that many operators use.
    #[serde(default)]
    pub sources: Vec<String>,
}

/// An object that others name in a label.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct OfOwner {
    /// The API group of its type.
    pub group: String,
    /// The plural of its type.
    pub plural: String,
    /// The label with its name.
    pub label: String,
}

/// Where a mark stands. Names of annotations and labels can contain `*`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MarkPlace {
    /// An annotation.
    Annotation(String),
    /// A label.
    Label(String),
    /// A field that is true, by its path.
    Field(String),
}

/// What a mark means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Meaning {
    /// The controller leaves the object alone.
    Paused,
    /// The object belongs to one of several controllers.
    Shard,
    /// The deletion waits until whoever set the mark takes it away.
    Hook,
    /// The object is a step of a deployment: the program that deploys made it, waits for it and deletes it.
    Step,
}

impl MarkPlace {
    /// The name of the annotation or label, or the path of the field.
    pub fn name(&self) -> &str {
        match self {
            MarkPlace::Annotation(name) | MarkPlace::Label(name) | MarkPlace::Field(name) => name,
        }
    }
}

impl Platform {
    /// Whether nothing is given by which the platform is recognised.
    fn is_unrecognisable(&self) -> bool {
        self.name.is_empty()
            || self.node_labels.is_empty()
                && self.provider_ids.is_empty()
                && self.versions.is_empty()
                && self.groups.is_empty()
            || self.provider_ids.iter().any(|id| is_cloud_alone(id))
    }
}

/// The clouds that a providerID can begin with. Anybody can run Kubernetes on one.
const CLOUDS: [&str; 6] = ["alicloud", "aws", "azure", "digitalocean", "gce", "oci"];

/// Whether a providerID names no more than a cloud, or nothing at all.
fn is_cloud_alone(id: &str) -> bool {
    let (scheme, place) = id.split_once("://").unwrap_or(("", id));
    let names_nothing = place.trim_matches(['/', '*']).is_empty();
    names_nothing && (scheme.trim_matches('*').is_empty() || CLOUDS.contains(&scheme))
}

impl Deployer {
    /// Whether it writes to objects under this name. An operator named after it, such as `terraform-operator`, is another
    /// program: `*` does not stand for that part of a name.
    pub fn writes_as(&self, manager: &str) -> bool {
        let names_controller = |name: &str| name.contains("operator") || name.contains("controller");
        let fits =
            |known: &String| glob(known, manager) && (names_controller(known) || !names_controller(manager));
        self.field_managers.iter().any(fits)
    }

    /// Whether nothing is given by which the program is recognised, or a part of a name would do.
    fn is_unrecognisable(&self) -> bool {
        let is_part = |image: &String| !image.contains('/');
        let is_any = |name: &String| name.trim_matches(['*', '/']).is_empty();
        let signs = [&self.images, &self.charts, &self.marks, &self.field_managers];
        self.name.is_empty()
            || signs.iter().all(|signs| signs.is_empty())
            || self.images.iter().any(is_part)
            || self.marks.iter().chain(&self.field_managers).any(is_any)
    }
}

/// The platforms of a file, or the mistake in it.
pub fn platforms(file: &str, text: &str) -> Result<Vec<Platform>, Mistake> {
    list(file, text, |one: &Platform| {
        (one.name.clone(), one.is_unrecognisable())
    })
}

/// The programs of a file, or the mistake in it.
pub fn deployers(file: &str, text: &str) -> Result<Vec<Deployer>, Mistake> {
    list(file, text, |one: &Deployer| {
        (one.name.clone(), one.is_unrecognisable())
    })
}

/// The marks of a file, or the mistake in it.
pub fn marks(file: &str, text: &str) -> Result<Vec<Mark>, Mistake> {
    list(file, text, |one: &Mark| {
        let name = one.place.name();
        (name.to_owned(), name.trim_matches(['*', '/']).is_empty())
    })
}

/// The settings of a file, or the mistake in it.
pub fn fates(file: &str, text: &str) -> Result<Vec<Fate>, Mistake> {
    list(file, text, |one: &Fate| {
        let says_nothing = one.keeps.is_empty() && one.deletes.is_empty();
        let is_label = matches!(one.place, MarkPlace::Label(_));
        let is_of_all = one.kinds.is_empty() && one.with.is_none();
        let name = one.place.name();
        (
            name.to_owned(),
            name.is_empty() || is_of_all || one.sources.is_empty() || says_nothing || is_label,
        )
    })
}

/// The messages of a file, or the mistake in it.
pub fn losses(file: &str, text: &str) -> Result<Vec<Loss>, Mistake> {
    list(file, text, |one: &Loss| {
        let is_vague = |words: &String| words.len() < 4 || words.to_lowercase() != *words;
        let is_bare = one.words.is_empty() || one.note.is_empty();
        (one.words.join(", "), is_bare || one.words.iter().any(is_vague))
    })
}

/// The topics of a file, or the mistake in it.
pub fn topics(file: &str, text: &str) -> Result<Vec<TopicWords>, Mistake> {
    list(file, text, |one: &TopicWords| {
        let is_vague = |words: &String| words.len() < 3 || words.to_lowercase() != *words;
        let is_bare = one.words.is_empty() || one.note.is_empty();
        (one.words.join(", "), is_bare || one.words.iter().any(is_vague))
    })
}

/// The defaults of a file, or the mistake in it.
pub fn defaults(file: &str, text: &str) -> Result<Vec<DefaultReference>, Mistake> {
    list(file, text, |one: &DefaultReference| {
        let is_unclear = one.named.is_some() == one.annotated.is_some();
        let lacks = one.field.is_empty() || one.kinds.is_empty() || one.sources.is_empty();
        (one.field.clone(), lacks || is_unclear)
    })
}

pub(super) fn list<T: DeserializeOwned>(
    file: &str,
    text: &str,
    judge: impl Fn(&T) -> (String, bool),
) -> Result<Vec<T>, Mistake> {
    let mistake = |line, column, message| Mistake {
        file: file.to_owned(),
        line,
        column,
        message,
    };
    let all: Vec<T> = serde_saphyr::from_str(text).map_err(|error| {
        let (line, column) = error.location().map_or((0, 0), |at| (at.line(), at.column()));
        mistake(line, column, error.without_snippet().to_string())
    })?;
    for one in &all {
        let (name, is_unrecognisable) = judge(one);
        if is_unrecognisable {
            let message =
                format!("`{name}` needs a name, and something by which it is recognised for certain");
            return Err(mistake(0, 0, message));
        }
    }
    Ok(all)
}
