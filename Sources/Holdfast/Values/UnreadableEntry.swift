/// An unconfirmed entry whose record cannot be read.
package struct UnreadableEntry: Hashable, Sendable {
    package let uid: UID
    package let fault: RecordFault

    package init(uid: UID, fault: RecordFault) {
        self.uid = uid
        self.fault = fault
    }
}

/// Why a record of the journal cannot be read. More cases may come.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum RecordFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The record is damaged; the text says how that shows.
    case damaged(String)
    /// A newer Holdfast wrote the record, in this version.
    case newerVersion(UInt8)

    package init(_ damage: PackedNotification.Damage) {
        if case .version(let version) = damage {
            self = .newerVersion(version)
        } else {
            self = .damaged("its notification is \(damage)")
        }
    }

    /// The fault in words, for operators.
    public var description: String {
        switch self {
        case .damaged(let what): "damaged: \(what)"
        case .newerVersion(let version): "version \(version), which this Holdfast does not know"
        }
    }
}
