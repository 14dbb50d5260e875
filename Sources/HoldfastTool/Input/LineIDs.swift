internal import Holdfast

/// The apns-ids of lines without one, where `send` gives them: the same for the same line of the same sending, so that after
/// a crash it is found again what was taken.
struct LineIDs: Equatable {
    let key: IdentityKey

    /// - Parameter index: among the notifications of the line.
    func id(line: Int, index: Int) -> NotificationID {
        var hash = SipHash128(key: key)
        hash.append(UInt64(line))
        hash.append(UInt64(index))
        let (first, second) = hash.finalize()
        // In the form of a random UUID.
        return NotificationID(
            high: first & 0xFFFF_FFFF_FFFF_0FFF | 0x4000, low: second & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
    }

    /// Names all runs that give these ids: those of one report, or one run without.
    var run: UInt64 {
        var hash = SipHash128(key: key)
        return hash.finalize().0
    }
}
