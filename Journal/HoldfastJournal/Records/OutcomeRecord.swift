import Holdfast
import HoldfastLMDB

/// The codes of terminal outcomes in records; 0 stands for none.
enum OutcomeCode {
    static let confirmed: UInt8 = 1

    static func code(of outcome: TerminalOutcome?) -> UInt8 {
        switch outcome {
        case nil: 0
        case .confirmed: 1
        case .rejected: 2
        case .expired: 3
        case .unknown: 4
        case .withdrawn: 5
        case .superseded: 6
        }
    }

    /// The code of an outcome's word (``TerminalOutcome/word``); 0 for none.
    static func code(word: String) -> UInt8 {
        switch word {
        case "confirmed": 1
        case "rejected": 2
        case "expired": 3
        case "unknown": 4
        case "withdrawn": 5
        case "superseded": 6
        default: 0
        }
    }

    /// Whether it is neither 0 nor an outcome's.
    static func isUnknown(_ code: UInt8) -> Bool { code != 0 && outcome(code, reason: .other) == nil }

    /// - Returns: nil for a code that is none of these.
    static func outcome(_ code: UInt8, reason: @autoclosure () -> Reason) -> TerminalOutcome? {
        switch code {
        case 1: .confirmed
        case 2: .rejected(reason())
        case 3: .expired
        case 4: .unknown
        case 5: .withdrawn
        case 6: .superseded
        default: nil
        }
    }
}

/// An outcome as it waits in `outcomes` in a journal of format 1 or 2: the next opening for writing moves it into the log
/// (``OutcomeMigration``). The checksum's seed is the UID, so that a value under
/// another's key is damage.
///
///     13 u8 code (1 confirmed, 2 rejected, 3 expired, 4 unknown, 5 withdrawn, 6 superseded)
///     14 u8 1 has a status, 2 has a timestamp, 4 is of a channel (version 2), 8 of another service's address (version 3)
///     15 u8 token's or channel id's length; of another service 0
///     16 u16 status   18 u16 reason's length
///     20 u16 tag's length   22 u16 producer   24 i64 settled at   32 i64 timestamp   40 i64 rejected at
///     48 u64×2 apns-id   64 token or channel id · tag · reason
///
/// With another service's address: 64 u16 its length   66 u8 its kind   67 five zeros   72 address · tag · reason.
enum OutcomeRecord {
    static let magic: UInt32 = 0x636F_4648  // "HFoc"
    /// The newest; written for other services' addresses alone.
    static let version: UInt8 = 3
    private static let headByteCount = 64
    private static let serviceHeadByteCount = 72

    /// The length that a record says it has; nil where its head is not whole.
    static func byteCount(_ bytes: Span<UInt8>, at start: Int) -> Int? {
        guard start + headByteCount <= bytes.count else { return nil }
        let words = Int(bytes.load(UInt16.self, at: start + 18)) + Int(bytes.load(UInt16.self, at: start + 20))
        guard bytes[start + 14] & 8 != 0 else { return headByteCount + Int(bytes[start + 15]) + words }
        guard start + serviceHeadByteCount <= bytes.count else { return nil }
        return serviceHeadByteCount + Int(bytes.load(UInt16.self, at: start + 64)) + words
    }

    /// - Parameter producers: the names, Producer 1 first.
    static func read(_ bytes: [UInt8], uid: UInt64, producers: [String]) throws(EntryRecord.Fault) -> Outcome {
        let span = bytes.span
        if let fault = SmallRecord.fault(span, magic, newest: version, seed: uid, atLeast: 64) { throw fault }
        guard byteCount(span, at: 0) == bytes.count else { throw .damaged("its lengths do not add up") }
        let isOfService = span[14] & 8 != 0
        let start = isOfService ? serviceHeadByteCount : headByteCount
        let address = start..<(start + Int(isOfService ? span.load(UInt16.self, at: 64) : UInt16(span[15])))
        let tag = address.upperBound..<(address.upperBound + Int(span.load(UInt16.self, at: 20)))
        let words = tag.upperBound..<(tag.upperBound + Int(span.load(UInt16.self, at: 18)))
        let reason = Reason(rawValue: String(decoding: bytes[words], as: UTF8.self))
        let service = isOfService ? ServiceAddress.Kind(rawValue: span[66]) : nil
        guard let recipient = recipient(Array(bytes[address]), isToChannel: span[14] & 4 != 0, service: service),
            let terminal = OutcomeCode.outcome(span[13], reason: reason)
        else { throw .damaged("its fields make no sense") }
        func time(_ offset: Int) -> WallTime {
            WallTime(milliseconds: Int64(bitPattern: bytes.span.load(UInt64.self, at: offset)))
        }
        var cause: RejectionCause?
        if case .rejected = terminal {
            cause = RejectionCause(
                reason: reason, status: span[14] & 1 == 0 ? nil : Int(span.load(UInt16.self, at: 16)),
                timestamp: span[14] & 2 == 0 ? nil : time(32), rejectedAt: time(40))
        }
        // Neither its topic nor when it was accepted is known.
        let isAttempt = terminal == .confirmed || cause?.status != nil
        return Outcome(
            uid: UID(uid), terminal: terminal, cause: cause,
            history: DeliveryHistory(acceptedAt: time(24), settledAt: time(24), attempts: isAttempt ? 1 : 0),
            id: NotificationID(high: span.load(UInt64.self, at: 48), low: span.load(UInt64.self, at: 56)),
            recipient: recipient, topic: "", producer: producers.name(of: span.load(UInt16.self, at: 22)),
            tag: Array(bytes[tag]))
    }

    private static func recipient(
        _ address: [UInt8], isToChannel: Bool, service: ServiceAddress.Kind?
    ) -> Recipient? {
        if let service { return (try? ServiceAddress(service, bytes: address)).map(Recipient.service) }
        guard isToChannel else { return DeviceToken(bytes: address).map(Recipient.device) }
        return (try? BroadcastChannel(String(decoding: address, as: UTF8.self))).map(Recipient.channel)
    }
}

extension [String] {
    /// The name of a Producer by its number, from 1; empty for a number that was never given out.
    func name(of producer: UInt16) -> String {
        producer >= 1 && producer <= count ? self[Int(producer) - 1] : ""
    }
}
