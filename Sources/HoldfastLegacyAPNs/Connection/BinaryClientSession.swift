package import Holdfast
internal import HoldfastTransport
package import NIOCore

/// One connection of the binary protocol from the client's side: entries in, frames out in their order, and what the
/// service's one answer means.
///
/// A pure machine.
package struct BinaryClientSession: Sendable {
    /// What an answer proves.
    package enum Conclusion: Hashable, Sendable {
        /// Everything up to this position was taken.
        case barrierAnswered(through: UInt64)
        case payloadError(PayloadError)
        /// Nothing: all that was written may have been taken or not.
        case unknown
    }

    private enum Barrier: Hashable, Sendable {
        case none, wanted, written
    }

    private let identifiers: WireIdentifiers
    private var queue = HandOutQueue()
    private var reader = ErrorResponseReader()
    private var barrier = Barrier.none
    /// Nothing of the queue is written any more.
    private var isStopped = false

    /// How many entries have been written: the position of the last one.
    package private(set) var written: UInt64 = 0
    /// An entry that can't be written; nothing behind it is.
    package private(set) var damage: PackedNotification.Damage?
    /// Bytes have come that may become an answer.
    package private(set) var isAnswering = false

    package init(firstIdentifier: UInt32 = 1) { identifiers = WireIdentifiers(first: firstIdentifier) }

    // MARK: Frames out

    /// Takes entries, to be written behind those that wait.
    package mutating func append(_ handOuts: [HandOut]) {
        // What can't be written any more need not be kept: the end says that it was never sent.
        guard !isStopped, barrier == .none else { return }
        queue.append(handOuts)
    }

    /// Writes nothing more of what waits; a barrier still.
    package mutating func stop() {
        isStopped = true
        _ = queue.removeAll()
    }

    /// Wants a barrier behind everything that was given until now.
    package mutating func writeBarrier() { if barrier == .none { barrier = .wanted } }

    package var hasOutput: Bool { damage == nil && (!queue.isEmpty || barrier == .wanted) }

    /// A barrier is written and not answered.
    package var awaitsAnswer: Bool { barrier == .written }

    /// Appends frames until nothing waits or the buffer holds `limit` bytes; the last one may go beyond.
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

    /// - Returns: the answer with what it proves, once it is complete.
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
        // 0 names nobody, and so does a barrier's name with a status that no barrier earns. (Status 10 with 0 might mean
        // that none was taken; it might as well mean that the service lost count. Unknown is right for both.)
        // One that was never given out says nothing about those that were; what was not written was not taken all the same.
        guard answer.identifier != 0, !isBarriers,
            let position = identifiers.number(of: answer.identifier, last: written)
        else { return .unknown }
        let kind: PayloadError.Kind =
            answer.status == .shutdown
            ? .lastGood : .refused(SendResult(binaryStatus: answer.status.rawValue))
        return .payloadError(PayloadError(position: .position(position), kind: kind))
    }
}
