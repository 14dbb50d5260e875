/// Paused tags concern what they hold now: a look of a second ago knows too little while a campaign comes in, and the most that a
/// pause ever held is too much once the campaign is taken back.
extension [HealthCondition] {
    /// - Parameter held: entries that wait for paused tags. Which of several tags they wait for, only a walk over them tells.
    func counted(held: Int) -> [HealthCondition] {
        let isOnly = count { $0.kind == .tagPaused } == 1
        return map { $0.tagPaused { _ in isOnly ? held : 0 } }
    }

    /// - Parameter held: by the names of tags, what each of them holds.
    func counted(held: [String: Int]) -> [HealthCondition] { map { $0.tagPaused { held[$0] } } }
}

extension HealthCondition {
    /// - Parameter held: entries that wait for a tag; nil where nobody says.
    fileprivate func tagPaused(_ held: (String) -> Int?) -> HealthCondition {
        guard kind == .tagPaused, let held = held(subject) else { return self }
        var counted = self
        counted.affected = held
        return counted
    }
}
