/// Entries that wait in the places of their topics, and when they are called back from there.
extension TopicHold {
    /// Entries of unknown topics may wait in places of the lane: those of an earlier process, or of another journal.
    mutating func lookThrough(lane: Int) { lanes[lane].sweeps = 2 }

    /// The first that the lane's deferred have to offer waits in a place.
    mutating func found(lane: Int) {
        if lanes[lane].sweeps == 0, !held.values.contains(where: { $0.places.contains { $0.lane == lane } }) {
            lookThrough(lane: lane)
        }
        lanes[lane].isSweepDue = lanes[lane].sweeps > 0
    }

    /// Whether there is something to call back that is worth a connection.
    func wantsConnection(lane: Int) -> Bool {
        // A sweep that nothing is known of can wait for another's connection, but nothing that is known waits for the sweep.
        lanes[lane].sweeps > 0 && lanes[lane].isSweepDue || topicCall(lane: lane, limit: 1) != nil
    }

    /// An entry waits in a place, on disk.
    mutating func waits(until due: WallTime, lane: Int) {
        let (slot, place) = Self.place(of: due, lane: lane)
        guard let topic = slots[slot] else { return lookThrough(lane: lane) }
        held[topic]?.places.insert(place)
        held[topic]?.hasWaited = true
        held[topic]?.isDeserted = false
        changeSides(of: topic)
    }

    /// Whether the lane's deferred may hold anything to call back. As good as always no.
    func mayCall(lane: Int) -> Bool { lanes[lane].sweeps > 0 || !held.isEmpty }

    /// The deferred entries of the lane to bring back now.
    ///
    /// - Parameter limit: the most entries.
    func call(lane: Int, limit greatest: Int) -> Call? {
        guard mayCall(lane: lane) else { return nil }
        guard lanes[lane].sweeps > 0 else { return topicCall(lane: lane, limit: greatest) }
        let generation = 1 - lanes[lane].generation
        let first = Self.firstDue.milliseconds + Int64(generation) * Self.span
        return Call(
            after: WallTime(milliseconds: first - 1), through: WallTime(milliseconds: first + Self.span - 1),
            limit: greatest, isForProbe: false, slot: nil, generation: generation, side: 0)
    }

    /// The entries to bring back of topics that are probed, or that the service takes again.
    private func topicCall(lane: Int, limit greatest: Int) -> Call? {
        for entry in held.values.sorted(by: { $0.slot < $1.slot }) {
            let isForProbe: Bool
            switch entry.state {
            case .waiting, .out: continue
            case .ready where doesYield(entry): continue
            case .ready: isForProbe = true
            case .returning: isForProbe = false
            }
            // Those that were tried in vain come back last, since they may set the topic aside again.
            let sides = isForProbe ? [entry.side] : [entry.side, 1 - entry.side]
            guard let place = place(of: entry, lane: lane, sides: sides) else { continue }
            let due = Self.due(slot: entry.slot, place)
            return Call(
                after: WallTime(milliseconds: due.milliseconds - 1), through: due, limit: isForProbe ? 1 : greatest,
                isForProbe: isForProbe, slot: entry.slot, generation: place.generation, side: place.side)
        }
        return nil
    }

    /// Probes come from the same side until nothing is left on it.
    ///
    /// Before the first probe there may be nothing on it yet, since those that were called bad before are on the other one.
    mutating func changeSides(of topic: String) {
        guard let entry = held[topic], !entry.places.isEmpty else { return }
        guard !entry.places.contains(where: { $0.side == entry.side }) else { return }
        guard entry.failures > 0 || entry.isReady else { return }
        held[topic]?.side = 1 - entry.side
        guard entry.failures > 0 else { return }
        held[topic]?.isThrough = true
        held[topic]?.run = 0
    }

    /// Where something of the topic waits in the lane, those of the older generation first.
    private func place(of entry: Held, lane: Int, sides: [Int]) -> Place? {
        for side in sides {
            for generation in [1 - lanes[lane].generation, lanes[lane].generation] {
                let place = Place(lane: lane, generation: generation, side: side)
                if entry.places.contains(place) { return place }
            }
        }
        return nil
    }

    /// So many came back; none when the place is empty.
    mutating func called(_ call: Call, lane: Int, count: Int) {
        guard count == 0 else { return }
        guard let slot = call.slot else {
            lanes[lane].sweeps = max(lanes[lane].sweeps - 1, 0)
            for (topic, entry) in held {
                held[topic]?.places = entry.places.filter { $0.lane != lane || $0.generation != call.generation }
                changeSides(of: topic)
            }
            if lanes[lane].sweeps > 0 {
                lanes[lane].generation = 1 - lanes[lane].generation
            } else {
                lanes[lane].isSweepDue = false
            }
            for topic in held.keys { forgetIfIdle(topic) }
            return
        }
        emptied(Self.due(slot: slot, Place(lane: lane, generation: call.generation, side: call.side)), lane: lane)
    }

    /// Where entries of topics wait in the lane.
    func places(inLane lane: Int) -> [WallTime] {
        held.values.flatMap { entry in entry.places.filter { $0.lane == lane }.map { Self.due(slot: entry.slot, $0) } }
    }

    /// Where entries of the topic wait: in each lane, the due times of its places.
    func places(of topic: String) -> [Int: [WallTime]] {
        guard let entry = held[topic] else { return [:] }
        return Dictionary(grouping: entry.places, by: \.lane).mapValues { places in
            places.map { Self.due(slot: entry.slot, $0) }.sorted()
        }
    }

    /// Nothing waits in the place any more.
    mutating func emptied(_ due: WallTime, lane: Int) {
        let (slot, place) = Self.place(of: due, lane: lane)
        guard let topic = slots[slot] else { return }
        held[topic]?.places.remove(place)
        changeSides(of: topic)
        forgetIfIdle(topic)
    }

    static func due(slot: Int, _ place: Place) -> WallTime {
        WallTime(milliseconds: firstDue.milliseconds + Int64(place.generation) * span + Int64(2 * slot + place.side))
    }

    /// - Parameter hasFailed: whether it was tried itself, and goes behind the others.
    func due(_ entry: Held, _ lane: Int, hasFailed: Bool = false) -> WallTime {
        let side = hasFailed ? 1 - entry.side : entry.side
        let place = Place(lane: lane, generation: lanes[lane].generation, side: side)
        return Self.due(slot: entry.slot, place)
    }

    static func place(of due: WallTime, lane: Int) -> (slot: Int, place: Place) {
        let offset = max(due.milliseconds - firstDue.milliseconds, 0)
        let (generation, position) = (Int(min(offset / span, 1)), Int(offset % span))
        return (position / 2, Place(lane: lane, generation: generation, side: position % 2))
    }
}

extension WallTime {
    /// Whether this due time is the place of a topic that is set aside, and never comes.
    package var isPlaceOfTopic: Bool { self >= TopicHold.firstDue && self < TagPlace.first }
}
