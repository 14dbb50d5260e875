import Testing

@testable import Holdfast

@Suite("Durations and counts in messages")
struct WordsTests {
    @Test(
        "A duration has at most three digits",
        arguments: [
            (.zero, "0 ms"), (.seconds(0.9075666118690321), "907 ms"), (.seconds(1), "1 s"), (.seconds(5.0), "5 s"),
            (.seconds(1.234), "1.23 s"), (.seconds(9.05), "9.05 s"), (.seconds(12.54), "12.5 s"),
            (.seconds(99.99), "100 s"), (.seconds(119.2), "119 s"), (.seconds(600), "10 min"),
            (.seconds(172_799.999668065), "48 h"),
            (.seconds(864_000), "10 days"), (.seconds(-300), "-5 min"),
        ] as [(Duration, String)])
    func durations(duration: Duration, text: String) {
        #expect(duration.words == text)
    }

    @Test("One is not many")
    func counts() {
        #expect(counted(1, "entry", "entries") == "1 entry" && counted(0, "entry", "entries") == "0 entries")
        var change = Reconfiguration()
        #expect(change.description == "none")
        change.changed = ["a"]
        #expect(change.description == "changed a")
        change.unchanged = ["b"]
        #expect(change.description == "changed a; 1 goes on as it was")
    }

    @Test("A clock that was set says which way, and how far in few digits")
    func clock() {
        var clock = WallClockGuard(wallTimeAtOpen: nil)
        _ = clock.look(wall: WallTime(seconds: 1_000_000), monotonic: .zero)
        #expect(
            clock.look(wall: WallTime(seconds: 1_172_800), monotonic: .seconds(0.0003))
                == .warning("the clock was set ahead by 48 h"))
        #expect(
            clock.look(wall: WallTime(seconds: 1_000_000), monotonic: .seconds(0.0004))
                == .warning("the clock was set back by 48 h"))
    }

    @Test("A time that has passed is called what it is")
    func past() {
        let validator = NotificationValidator()
        for (expiration, words) in [
            (.at(5), "the expiration 5 "), (.unstated(until: 5), "the time until which it is tried, 5 "),
            (.unstored(until: 5), "the time until which it is tried, 5 "),
        ] as [(Expiration, String)] {
            let refusal = #expect(throws: Refusal.self) {
                try validator.validate(
                    PushNotification(
                        token: try DeviceToken("ab"), topic: "a", payload: Array("{}".utf8), expiration: expiration),
                    now: WallTime(seconds: 6))
            }
            #expect(refusal?.detail.hasPrefix(words) == true, "\(refusal?.detail ?? "")")
        }
    }
}
