import Testing

@testable import Holdfast

@Suite("Delivery hours")
struct DeliveryHoursTests {
    private func opening(_ hours: String, at time: String) throws -> String {
        let opening = try DeliveryHours(hours).opening(at: try #require(Timestamp.parse(time)))
        return Timestamp.format(try #require(opening))
    }

    @Test(
        "open at the first instant within them, by the clock of their zone",
        arguments: [
            ("09:00-18:00 Europe/Berlin", "2026-11-26T08:00:00Z", "2026-11-26T08:00:00Z"),
            ("09:00-18:00 Europe/Berlin", "2026-11-26T07:59:59Z", "2026-11-26T08:00:00Z"),
            ("09:00-18:00 Europe/Berlin", "2026-11-26T16:59:59.999Z", "2026-11-26T16:59:59.999Z"),
            ("09:00-18:00 Europe/Berlin", "2026-11-26T17:00:00Z", "2026-11-27T08:00:00Z"),
            ("09:00-18:00 Europe/Berlin", "2026-07-26T07:00:00Z", "2026-07-26T07:00:00Z"),
            // Over midnight.
            ("22:00-06:00 UTC", "2026-11-26T21:00:00Z", "2026-11-26T22:00:00Z"),
            ("22:00-06:00 UTC", "2026-11-26T23:30:00Z", "2026-11-26T23:30:00Z"),
            ("22:00-06:00 UTC", "2026-11-26T05:59:00Z", "2026-11-26T05:59:00Z"),
            ("22:00-06:00 UTC", "2026-11-26T06:00:00Z", "2026-11-26T22:00:00Z"),
            ("08:00-24:00 UTC", "2026-11-26T23:59:00Z", "2026-11-26T23:59:00Z"),
            ("08:00-24:00 UTC", "2026-11-27T00:00:00Z", "2026-11-27T08:00:00Z"),
            // Zones that are not whole hours away, and the one farthest ahead.
            ("00:00-00:01 Asia/Kathmandu", "2026-11-26T12:00:00Z", "2026-11-26T18:15:00Z"),
            ("09:00-10:00 Pacific/Kiritimati", "2026-11-26T12:00:00Z", "2026-11-26T19:00:00Z"),
            // In the night of 28 March 2027 clocks in Berlin go from 02:00 to 03:00, at 01:00 UTC.
            ("09:00-18:00 Europe/Berlin", "2027-03-27T20:00:00Z", "2027-03-28T07:00:00Z"),
            ("02:15-04:00 Europe/Berlin", "2027-03-27T20:00:00Z", "2027-03-28T01:00:00Z"),
            ("02:15-02:45 Europe/Berlin", "2027-03-27T20:00:00Z", "2027-03-29T00:15:00Z"),
            ("03:00-04:00 Europe/Berlin", "2027-03-27T20:00:00Z", "2027-03-28T01:00:00Z"),
            // On 25 October 2026 they go from 03:00 back to 02:00, also at 01:00 UTC.
            ("02:15-02:45 Europe/Berlin", "2026-10-24T20:00:00Z", "2026-10-25T00:15:00Z"),
            ("02:15-02:45 Europe/Berlin", "2026-10-25T00:45:00Z", "2026-10-25T01:15:00Z"),
            ("02:15-02:45 Europe/Berlin", "2026-10-25T01:50:00Z", "2026-10-26T01:15:00Z"),
            ("09:00-18:00 Europe/Berlin", "2026-10-24T20:00:00Z", "2026-10-25T08:00:00Z"),
            // Lord Howe's clocks move by half an hour: on 4 October 2026 from 02:00 to 02:30.
            ("02:10-02:20 Australia/Lord_Howe", "2026-10-03T12:00:00Z", "2026-10-04T15:10:00Z"),
            ("02:10-05:00 Australia/Lord_Howe", "2026-10-03T12:00:00Z", "2026-10-03T15:30:00Z"),
            // A day that a place left out: Samoa went from 29 to 31 December 2011, at 10:00 UTC.
            ("09:00-18:00 Pacific/Apia", "2011-12-30T09:00:00Z", "2011-12-30T19:00:00Z"),
        ])
    func opening(_ hours: String, _ time: String, _ expected: String) throws {
        #expect(try opening(hours, at: time) == expected)
    }

    @Test("open at the first second within them that a search second by second finds")
    func bySearch() throws {
        for (zone, time) in [
            ("Europe/Berlin", 1_806_188_400), ("Europe/Berlin", 1_792_878_600), ("America/St_Johns", 1_805_000_000),
            ("Africa/Casablanca", 1_802_000_000), ("Australia/Lord_Howe", 1_791_040_000),
        ] as [(String, Int64)] {
            let clock = try #require(ZoneClock(zone))
            for text in ["02:15-02:45", "23:50-00:10", "01:30-03:30", "12:00-11:59"] {
                let hours = try DeliveryHours("\(text) \(zone)")
                for step in 0..<24 as Range<Int64> {
                    let start = time + step * 3600 + step * 61
                    var second = start
                    func isOpen() -> Bool {
                        let minute = Int(((second + clock.offset(at: second)) % 86400 + 86400) % 86400 / 60)
                        return hours.start < hours.end
                            ? (hours.start..<hours.end).contains(minute) : minute >= hours.start || minute < hours.end
                    }
                    while !isOpen() { second += 1 }
                    #expect(
                        hours.opening(at: WallTime(seconds: start)) == WallTime(seconds: second), "\(hours) \(start)")
                }
            }
        }
    }

    @Test("take each name of the IANA database, those without a slash too, and show what they mean")
    func shortNames() throws {
        for zone in ZoneClock.shortNames { _ = try DeliveryHours("09:00-18:00 \(zone)") }
        // In January, and in July.
        let offsets: [(String, Int64, Int64)] = [
            ("UTC", 0, 0), ("GMT", 0, 0), ("GMT+0", 0, 0), ("Zulu", 0, 0), ("Japan", 9, 9), ("EST", -5, -5),
            ("HST", -10, -10), ("MST", -7, -7), ("CET", 1, 2), ("EST5EDT", -5, -4), ("NZ", 13, 12),
        ]
        for (zone, winter, summer) in offsets {
            let clock = try #require(ZoneClock(zone))
            #expect(clock.offset(at: 1_768_478_400) == winter * 3600, "\(zone)")
            #expect(clock.offset(at: 1_784_116_800) == summer * 3600, "\(zone)")
        }
    }

    @Test("are refused for what no clock shows, no time between them, and a zone that nobody knows")
    func refused() throws {
        func detail(_ text: String) -> String? {
            do throws(Refusal) {
                _ = try DeliveryHours(text)
                return nil
            } catch {
                return error.reason == .badDeliveryHours ? error.detail : "?"
            }
        }
        for text in [
            "", "09:00", "9:00-18:00 UTC", "09:00-18:00", "09:00-18:00  UTC", "09:00-18:00 UTC ", "09:60-18:00 UTC",
            "24:00-18:00 UTC", "09:00-24:01 UTC", "09:00-18:00-19:00 UTC", "-1:00-18:00 UTC", "09:00 - 18:00 UTC",
            "٠٩:00-18:00 UTC", String(repeating: "x", count: 5000),
        ] {
            let detail = try #require(detail(text), "\(text)")
            #expect(detail.contains("09:00-18:00 Europe/Berlin"))
            #expect(detail.utf8.count < 1000)
        }
        for text in ["09:00-09:00 UTC", "00:00-24:00 UTC"] {
            #expect(detail(text)?.contains("another minute") == true)
        }
        for zone in ["posixrules", "localtime", "Factory", "EDT", "japan", "PST", "posix/Japan", "right/UTC", "/Japan"]
        {
            #expect(detail("09:00-18:00 \(zone)")?.contains("no time zone") == true, "\(zone)")
        }
        for zone in ["Nowhere/None", "GMT+2", "CEST", "europe/berlin", "../UTC", "Europe/Berlin\u{0}", "/"] {
            #expect(detail("09:00-18:00 \(zone)")?.contains("no time zone") == true, "\(zone)")
        }
        #expect(throws: Refusal.self) { try DeliveryHours(from: -1, until: 5, timeZone: "UTC") }
        #expect(throws: Refusal.self) { try DeliveryHours(from: 0, until: .max, timeZone: "UTC") }
        #expect(try DeliveryHours(from: 0, until: 1439, timeZone: "UTC").description == "00:00-23:59 UTC")
    }
}
