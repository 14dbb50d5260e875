internal import Foundation

/// A pause of all notifications with one tag: they wait in the journal until the tag is resumed.
public struct TagPause: Hashable, Sendable {
    /// The tag, as the notifications have it.
    public let tag: [UInt8]
    /// When the tag was paused.
    public let since: WallTime
    /// Why, for operators; may be empty.
    public let reason: String
    /// Rises with each pause of a journal.
    package let number: UInt64

    package init(tag: [UInt8], since: WallTime, reason: String, number: UInt64) {
        (self.tag, self.since, self.reason, self.number) = (tag, since, reason, number)
    }

    /// Where its entries wait among the deferred.
    package var place: WallTime { TagPlace.due(for: number) }
    /// The tag as text.
    package var name: String { Self.name(of: tag) }

    package static func name(of tag: [UInt8]) -> String { String(decoding: tag, as: UTF8.self) }

    /// The command that resumes a tag. An argument of the tool is text: a tag of other bytes stands there in base64, and one that
    /// has the sign for such bytes as well.
    package static func command(resuming tag: [UInt8]) -> String {
        let name = name(of: tag)
        guard !name.unicodeScalars.contains("\u{FFFD}") else {
            return "holdfast tags resume --tag-base64 \(ShellText.word(Data(tag).base64EncodedString()))"
        }
        return "holdfast tags resume \(name.hasPrefix("-") ? "-- " : "")\(ShellText.word(name))"
    }

    /// Why an entry of the tag is held, for operators.
    package var words: String { "tag \(name.debugDescription) is paused" + (reason.isEmpty ? "" : ": \(reason)") }
}

/// The paused tags of a journal, in the order of their pauses. A note of the journal keeps them.
///
///     0  u8   version: 1
///     1  u64  number of the next pause
///     9  u16  count; then for each: u64 number · i64 since · u16 length of the tag · u16 length of the reason · tag · reason
package struct TagPauses: Hashable, Sendable {
    /// The most tags that are paused at once by orders to this journal alone. The fleet's orders are counted where they are given,
    /// and hold in each journal, whatever its own operators have paused.
    package static let limit = 64
    /// The name of the note.
    package static let noteName = "engine/paused-tags"
    /// The most bytes of a tag.
    private static let longestTag = 256
    private static let version: UInt8 = 1

    private var nextNumber: UInt64 = 1
    package private(set) var all: [TagPause] = []

    package init() {}

    /// For operators; `nil` if no tag is paused.
    package var words: String? {
        all.first.map { all.count == 1 ? $0.words : "\($0.words), as are \(all.count - 1) others" }
    }

    package func pause(of tag: some Sequence<UInt8>) -> TagPause? { all.first { $0.tag.elementsEqual(tag) } }

    /// Pauses a tag. One that is paused already stays so since then, for the new reason.
    ///
    /// - Parameters:
    ///   - reason: cut to ``LaneState/longestReason`` bytes.
    ///   - isOfFleet: whether an order to all journals of a fleet wants it, for which there is always room.
    package mutating func pause(
        _ tag: [UInt8], reason: String, at now: WallTime, isOfFleet: Bool = false
    ) throws(JournalError) {
        guard (1...Self.longestTag).contains(tag.count) else {
            throw JournalError(.invalidEntry, "a tag to pause has 1 to \(Self.longestTag) bytes, not \(tag.count)")
        }
        var cut = reason
        while cut.utf8.count > LaneState.longestReason { cut.removeLast() }
        if let index = all.firstIndex(where: { $0.tag == tag }) {
            let old = all[index]
            all[index] = TagPause(tag: tag, since: old.since, reason: cut, number: old.number)
            return
        }
        guard all.count < (isOfFleet ? Int(UInt16.max) : Self.limit) else {
            throw JournalError(
                .invalidEntry,
                "\(TagPause.name(of: tag).debugDescription) can't be paused: \(all.count) tags are paused, and no more than "
                    + "\(Self.limit) can be at once. Resume one of them first")
        }
        // By the clock, since a record that was lost with its numbers may have left entries in their places.
        let number = max(nextNumber, UInt64(max(now.seconds, 0)))
        all.append(TagPause(tag: tag, since: now, reason: cut, number: number))
        nextNumber = number + 1
    }

    /// Resumes a tag.
    ///
    /// - Throws: ``JournalError`` with code ``JournalError/Code/notFound`` for one that is not paused.
    package mutating func resume(_ tag: [UInt8]) throws(JournalError) {
        guard let index = all.firstIndex(where: { $0.tag == tag }) else {
            throw JournalError(.notFound, "tag \(TagPause.name(of: tag).debugDescription) is not paused")
        }
        all.remove(at: index)
    }

    /// Resumes all tags.
    package mutating func resumeAll() { all = [] }

    // MARK: The note

    package init(note bytes: [UInt8]) throws(JournalError) {
        var position = 11
        guard bytes.count >= position, bytes[0] == Self.version else { throw Self.damaged }
        nextNumber = bytes.span.littleEndian64(at: 1)
        for _ in 0..<bytes.span.littleEndian16(at: 9) {
            let head = position
            guard bytes.count >= head + 20 else { throw Self.damaged }
            let tag = (head + 20)..<(head + 20 + Int(bytes.span.littleEndian16(at: head + 16)))
            let reason = tag.upperBound..<(tag.upperBound + Int(bytes.span.littleEndian16(at: head + 18)))
            guard bytes.count >= reason.upperBound else { throw Self.damaged }
            position = reason.upperBound
            all.append(
                TagPause(
                    tag: Array(bytes[tag]),
                    since: WallTime(milliseconds: Int64(bitPattern: bytes.span.littleEndian64(at: head + 8))),
                    reason: String(decoding: bytes[reason], as: UTF8.self), number: bytes.span.littleEndian64(at: head))
            )
        }
        guard position == bytes.count else { throw Self.damaged }
    }

    package var note: [UInt8] {
        var bytes: [UInt8] = [Self.version]
        bytes.appendLittleEndian(nextNumber)
        bytes.appendLittleEndian(UInt16(all.count))
        for pause in all {
            bytes.appendLittleEndian(pause.number)
            bytes.appendLittleEndian(UInt64(bitPattern: pause.since.milliseconds))
            bytes.appendLittleEndian(UInt16(pause.tag.count))
            bytes.appendLittleEndian(UInt16(pause.reason.utf8.count))
            bytes += pause.tag
            bytes += pause.reason.utf8
        }
        return bytes
    }

    private static var damaged: JournalError {
        JournalError(
            .damaged,
            "the record of the paused tags can't be read, and nothing is sent that may be paused: `holdfast tags resume --all` "
                + "begins a new one, without pauses")
    }
}

extension JournalService {
    /// The paused tags, as the journal has them.
    ///
    /// - Throws: ``JournalError`` with code ``JournalError/Code/damaged`` for a record that can't be read: what is paused must
    ///   not go out.
    package func pausedTags() throws(JournalError) -> TagPauses {
        guard let note = try note(TagPauses.noteName) else { return TagPauses() }
        return try TagPauses(note: note)
    }

    /// Stores the paused tags, durably on return.
    package func keep(_ pauses: TagPauses) throws(JournalError) { try setNote(TagPauses.noteName, to: pauses.note) }

    /// The number of the lane's entries that a pause holds. A walk over them, unless it is the only one that holds any there.
    package func heldCount(_ lane: LaneID, by pause: TagPause) throws(JournalError) -> Int {
        let held = heldCount(lane)
        guard held > 0 else { return 0 }
        let before = WallTime(milliseconds: TagPlace.first.milliseconds - 1)
        if try nextDue(lane, after: before) == pause.place, try nextDue(lane, after: pause.place)?.isPlaceOfTag != true
        {
            return held
        }
        return try deferredCount(lane, dueAt: pause.place)
    }
}
