package import Holdfast
internal import HoldfastTransport
package import NIOCore

/// One connection of the binary protocol from the client's side: entries in, frames out in order, and the meaning of
/// the service's one answer.
///
/// A pure machine.
package struct BinaryClientSession: Sendable {
    /// The proof that an answer gives.
    package enum Conclusion: Hashable, Sendable {
        /// Everything up to this position was taken.
        case barrierAnswered(through: UInt64)
        case payloadError(PayloadError)
        /// No proof: any of the written entries may have been taken or not.
        case unknown
    }

    private enum Barrier: Hashable, Sendable {
        case none, wanted, written
    }

    private let identifiers: WireIdentifiers
    private var queue = HandOutQueue()
    private var reader = ErrorResponseReader()
    private var barrier = Barrier.none
    /// Whether queued entries are not written any more.
    private var isStopped = false

    /// The number of entries written: the position of the last one.
    package private(set) var written: UInt64 = 0
    /// The damage of an entry that can't be written; nothing behind it is written.
    package private(set) var damage: PackedNotification.Damage?
    /// Whether bytes have come that may become an answer.
    package private(set) var isAnswering = false

    package init(firstIdentifier: UInt32 = 1) { identifiers = WireIdentifiers(first: firstIdentifier) }

    // MARK: Frames out

    /// Queues entries behind those that wait.
    package mutating func append(_ handOuts: [HandOut]) {
        // Entries that can't be written any more need not be kept: the end reports them as never sent.
        guard !isStopped, barrier == .none else { return }
        queue.append(handOuts)
    }

    /// Stops writing queued entries; a barrier is still written.
    package mutating func stop() {
        isStopped = true
        _ = queue.removeAll()
    }

    /// Requests a barrier behind everything that was queued so far.
    package mutating func writeBarrier() { if barrier == .none { barrier = .wanted } }

    package var hasOutput: Bool { damage == nil && (!queue.isEmpty || barrier == .wanted) }

    /// Whether a barrier is written and not answered.
    package var awaitsAnswer: Bool { barrier == .written }

    /// Appends frames until nothing waits or the buffer holds `limit` bytes; the last frame may exceed it.
    package mutating func write(to buffer: inout ByteBuffer, limit: Int) {
        var (written, damage) = (written, damage)
        queue.takeWhile { [identifiers] handOut, item in
            guard buffer.readableBytes < limit, damage == nil else { return false }
            do throws(PackedNotification.Damage) {
                let fields = try handOut.entries.fields(at: item)
                assert(handOut.tickets[item].rawValue == written + 1, "tickets are positions")
                BinaryFrameWriter.append(
                    fields, of: handOut.entries.bytes, identifier: identifiers.identifier(of: written + 1), to: &buffer)
                written += 1
                return true
            } catch {
                damage = error
                return false
            }
        }
        (self.written, self.damage) = (written, damage)
        guard queue.isEmpty, barrier == .wanted, buffer.readableBytes < limit else { return }
        BinaryFrameWriter.appendBarrier(identifier: identifiers.identifier(of: written + 1), to: &buffer)
        barrier = .written
    }

    // MARK: The answer

    /// - Returns: the answer with its proof, once it is complete.
    package mutating func receive(
        _ input: Span<UInt8>
    ) throws(ErrorResponseReader.NotAnErrorResponse) -> (answer: ErrorResponse, conclusion: Conclusion)? {
        isAnswering = isAnswering || input.count > 0
        guard let answer = try reader.receive(input) else { return nil }
        return (answer, conclude(answer))
    }

    func conclude(_ answer: ErrorResponse) -> Conclusion {
        let isBarrierStatus = answer.status == .missingToken || answer.status == .invalidTokenSize
        let isBarriers = awaitsAnswer && answer.identifier == identifiers.identifier(of: written + 1)
        if awaitsAnswer, isBarrierStatus, isBarriers || answer.identifier == 0 {
            return .barrierAnswered(through: written)
        }
        // Identifier 0 names no notification, and neither does a barrier's identifier with a status that no barrier
        // earns. (Status 10 with 0 might mean that none was taken, or that the service lost count. Unknown is right for
        // both.) An identifier that was never used proves nothing about those that were; unwritten entries were not
        // taken all the same.
        guard answer.identifier != 0, !isBarriers,
            let position = identifiers.number(of: answer.identifier, last: written)
        else { return .unknown }
        let kind: PayloadError.Kind =
            answer.status == .shutdown
            ? .lastGood : .refused(SendResult(binaryStatus: answer.status.rawValue))
        return .payloadError(PayloadError(position: .position(position), kind: kind))
    }
}
