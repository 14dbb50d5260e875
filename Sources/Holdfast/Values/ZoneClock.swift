internal import Foundation

/// The local time of one time zone. The only place of the hub that knows time zones.
///
/// The rules of the zones are in the program itself (Foundation's), so that no file of the system has to be there.
struct ZoneClock {
    private let zone: TimeZone

    /// The names of the IANA database without a slash: of old, and kept for those who use them. Foundation has the rules of all
    /// of them, and knows more names, such as `GMT+2`, whose sign misleads.
    static let shortNames: Set<String> = [
        "CET", "CST6CDT", "Cuba", "EET", "EST", "EST5EDT", "Egypt", "Eire", "GB", "GB-Eire", "GMT", "GMT+0", "GMT-0",
        "GMT0", "Greenwich", "HST", "Hongkong", "Iceland", "Iran", "Israel", "Jamaica", "Japan", "Kwajalein", "Libya",
        "MET", "MST", "MST7MDT", "NZ", "NZ-CHAT", "Navajo", "PRC", "PST8PDT", "Poland", "Portugal", "ROC", "ROK",
        "Singapore", "Turkey", "UCT", "UTC", "Universal", "W-SU", "WET", "Zulu",
    ]

    /// - Parameter name: from the IANA database.
    init?(_ name: String) {
        guard name.utf8.count <= DeliveryHours.maximumTimeZoneByteCount, name.utf8.allSatisfy(Self.isOfName),
            name.utf8.contains(UInt8(ascii: "/")) || Self.shortNames.contains(name),
            let zone = TimeZone(identifier: name)
        else { return nil }
        self.zone = zone
    }

    /// Foundation reads a name up to its first NUL.
    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "_"), UInt8(ascii: "+"),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }

    static func exists(_ name: String) -> Bool { ZoneClock(name) != nil }

    /// Seconds east of UTC at a time in Unix seconds.
    func offset(at second: Int64) -> Int64 {
        Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(second))))
    }
}
