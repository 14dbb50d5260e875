/// The places of paused tags among the deferred entries of a lane: due times that never come, one for each pause.
///
/// Behind those that fall due and the places of topics, and before the scheduled ones. No place is used twice in a journal, so
/// an entry that reaches its place after its tag was resumed lies in no other tag's.
package enum TagPlace {
    private static let origin: Int64 = 1 << 61
    private static let span: Int64 = 1 << 40

    /// The first place.
    package static let first = WallTime(milliseconds: origin)
    /// The last place.
    package static let last = WallTime(milliseconds: origin + span - 1)

    /// The due time that stands for a pause's number.
    package static func due(for number: UInt64) -> WallTime {
        WallTime(milliseconds: origin + Int64(min(number, UInt64(span - 1))))
    }
}

extension WallTime {
    /// Whether this due time is the place of a paused tag, and never comes.
    package var isPlaceOfTag: Bool { self >= TagPlace.first && self <= TagPlace.last }
}
