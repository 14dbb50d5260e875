package import Holdfast

extension HealthCondition {
    /// A host of a fleet has no journal yet, because its own disk is full.
    ///
    /// - Parameter words: what it waits for.
    package init(noRoom words: String, since: WallTime) {
        self.init(
            .diskRefusing, .fault, "journal", since: since, what: words,
            next: "make room where working copies lie; the host goes on by itself, and others deliver what it has left",
            command: "df -h")
    }
}
