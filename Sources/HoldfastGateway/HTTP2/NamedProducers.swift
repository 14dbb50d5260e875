internal import Holdfast

/// The producers under whose names the senders of a listener submit: the listener's own, and those that requests name.
///
/// A journal tells a thousand names apart, for good. So that a sender which makes up names leaves some for others, a listener
/// opens at most ``greatestCount`` in the life of the process.
final class NamedProducers: Sendable {
    static let greatestCount = 200

    let standard: Producer
    private let open: @Sendable (String) throws -> Producer
    private let known = Monitor<[String: Producer]>([:])

    init(standard: Producer, of engine: PushEngine) {
        self.standard = standard
        open = { [weak engine] name in
            guard let engine else { throw Refusal(.shuttingDown, "the engine has ended") }
            return try engine.producer(named: name)
        }
    }

    /// Submits a batch; may wait for a commit where a name is new.
    ///
    /// - Parameters:
    ///   - names: by index, where it is not the listener's own.
    ///   - onCommit: gets the receipts in the order of the notifications, and the number of those accepted before.
    func submit(
        _ notifications: [PushNotification], as names: [Int: String],
        onCommit: @escaping @Sendable (_ receipts: [Receipt], _ repeats: Int) -> Void
    ) {
        guard !names.isEmpty else { return standard.submitTellingRepeats(notifications, onCommit: onCommit) }
        // In the order of their first notifications.
        var parts: [(name: String?, indices: [Int])] = []
        for index in notifications.indices {
            if let part = parts.firstIndex(where: { $0.name == names[index] }) {
                parts[part].indices.append(index)
            } else {
                parts.append((names[index], [index]))
            }
        }
        let gathered = Monitor(Gathered(count: notifications.count, parts: parts.count))
        for (name, indices) in parts {
            let take = { @Sendable (receipts: [Receipt], repeats: Int) in
                let done = gathered.withLock { $0.take(receipts, repeats, at: indices) }
                if let done { onCommit(done.receipts, done.repeats) }
            }
            do throws(Refusal) {
                try producer(named: name).submitTellingRepeats(indices.map { notifications[$0] }, onCommit: take)
            } catch {
                take(Array(repeating: .refused(error), count: indices.count), 0)
            }
        }
    }

    private func producer(named name: String?) throws(Refusal) -> Producer {
        guard let name else { return standard }
        if let producer = known.withLock({ $0[name] }) { return producer }
        guard known.withLock({ $0.count < Self.greatestCount }) else {
            throw Refusal(.badProducer, "this listener's senders have named \(Self.greatestCount) producers already")
        }
        do {
            let producer = try open(name)
            known.withLock { $0[name] = producer }
            return producer
        } catch let refusal as Refusal {
            throw refusal
        } catch let error as JournalError where error.code == .tooManyProducers {
            throw Refusal(.badProducer, error.message)
        } catch {
            throw Refusal(.journalFailed, "a producer's name could not be registered: \(error)")
        }
    }

    /// The receipts of a batch's parts.
    private struct Gathered: Sendable {
        private var receipts: [Receipt?]
        private var repeats = 0
        private var missing: Int

        init(count: Int, parts: Int) {
            receipts = Array(repeating: nil, count: count)
            missing = parts
        }

        /// - Returns: all of them, when this was the last part.
        mutating func take(
            _ some: [Receipt], _ repeats: Int, at indices: [Int]
        ) -> (receipts: [Receipt], repeats: Int)? {
            for (index, receipt) in zip(indices, some) { receipts[index] = receipt }
            self.repeats += repeats
            missing -= 1
            return missing == 0 ? (receipts.compactMap(\.self), self.repeats) : nil
        }
    }
}
