internal import Holdfast
internal import HoldfastControl

/// What came of the probes of one route that was to try at once: of its lanes, and of the topics that are set aside. A pure machine;
/// status and time are told to it.
struct ProbeWatch {
    /// What the service still refuses. The names of its properties are those of the JSON.
    struct Refusal: Encodable, Hashable {
        /// `lane` or `topic`.
        var about: String
        var name: String
        var because: String
    }

    struct Finding: Equatable {
        var refusals: [Refusal] = []
        /// Whether some probe may yet be answered.
        var isOpen = false
        /// The topics of which a probe may yet be answered.
        var openTopics: [String] = []
        /// Whether a lane that runs has as many entries as before: it may stop again at the first of them, or as many come as go.
        var isQueued = false
        /// Whether something waits, and no lane has fewer entries than before.
        var isStill = false
    }

    private let route: String
    /// When each lane that stood still was to be probed before, and its entries.
    private let lanes: [LaneKey: DeskStatus.Lane]
    private let topics: [String: EngineStatus.Topic]

    /// - Parameter before: what was said before the route was told to try.
    init(route: String, before: DeskStatus) {
        self.route = route
        lanes = before.lanes.filter { $0.key.route == route }.reduce(into: [:]) { $0[$1.key] = $1 }
        let own = before.routes.first { $0.name == route }
        topics = (own?.topics ?? []).reduce(into: [:]) { $0[$1.topic] = $1 }
    }

    func look(_ status: DeskStatus, at now: WallTime) -> Finding {
        var finding = Finding()
        for lane in status.lanes where lane.key.route == route { look(lane, at: now, &finding) }
        guard let own = status.routes.first(where: { $0.name == route }) else { return finding }
        let lanes = status.lanes.filter { $0.key.route == route }
        let waiting = lanes.contains { $0.unconfirmed > 0 }
        finding.isStill = waiting && !lanes.contains { isLess($0, than: self.lanes[$0.key]) }
        for topic in own.topics {
            let isRefused = Self.isAnswered(topic.nextProbeAt, topics[topic.topic]?.nextProbeAt, at: now)
            if isRefused {
                finding.refusals.append(Refusal(about: "topic", name: topic.topic, because: topic.reason))
            } else if waiting {
                finding.isOpen = true
                finding.openTopics.append(topic.topic)
            }
        }
        return finding
    }

    private func look(_ lane: DeskStatus.Lane, at now: WallTime, _ finding: inout Finding) {
        let before = lanes[lane.key]
        guard case .stopped(let reason, let since) = lane.state else {
            // One that runs and had stood still before it was resumed shows by its entries whether they go.
            finding.isQueued = finding.isQueued || lane.state == .running && !hasMoved(lane, since: before)
            return
        }
        let isNew = if case .stopped(_, let stopped)? = before?.state { stopped != since } else { true }
        if isNew || Self.isAnswered(lane.nextProbeAt, before?.nextProbeAt, at: now) {
            finding.refusals.append(Refusal(about: "lane", name: lane.key.description, because: reason))
        } else if lane.unconfirmed > 0 {
            finding.isOpen = true
        }
    }

    private func hasMoved(_ lane: DeskStatus.Lane, since before: DeskStatus.Lane?) -> Bool {
        Self.ready(lane) == 0 || isLess(lane, than: before)
    }

    private func isLess(_ lane: DeskStatus.Lane, than before: DeskStatus.Lane?) -> Bool {
        before.map { lane.unconfirmed < $0.unconfirmed } ?? false
    }

    /// Entries that wait for nothing but their turn.
    private static func ready(_ lane: DeskStatus.Lane) -> Int { lane.unconfirmed - lane.deferred - lane.scheduled }

    /// A probe that goes out has no time, or one that has come; the next one's is the answer to it.
    private static func isAnswered(_ next: WallTime?, _ before: WallTime?, at now: WallTime) -> Bool {
        guard let next else { return false }
        return next > now && next != before
    }
}
