import Foundation
import Holdfast
import HoldfastAPNsAnswers
import HoldfastControl
import HoldfastJournal
import HoldfastService
import Testing

@testable import HoldfastTool

@Suite("Explaining entries")
struct EntryExplanationTests {
    private static let now = WallTime(seconds: 1_795_300_000)
    private static let lane = LaneKey(route: "default", urgency: .immediate, guarantee: .atLeastOnce)
    private static let once = LaneKey(route: "default", urgency: .immediate, guarantee: .atMostOnce)

    private static func entry(
        _ state: JournalEntry.State, uid: UInt64 = 17, lane: LaneKey = lane, isPossiblySent: Bool? = nil,
        attempts: Int = 0,
        lastReason: Reason? = nil, retryOf: UID? = nil, _ change: (inout PushNotification) -> Void = { _ in }
    ) throws -> JournalEntry {
        var notification = PushNotification(
            token: try DeviceToken("00fc13adff785122"), topic: "com.example.app", payload: "{}")
        notification.id = NotificationID(high: 1, low: 2)
        notification.expiration = .at(now.seconds + 3600)
        notification.guarantee = lane.guarantee
        change(&notification)
        return JournalEntry(
            uid: UID(uid), lane: lane, producer: "default", state: state,
            isPossiblySent: isPossiblySent ?? (state == .possiblySent), attempts: attempts,
            acceptedAt: now.advanced(by: .seconds(-60)), lastReason: lastReason, retryOf: retryOf,
            notification: notification)
    }

    private func facts(_ entry: JournalEntry) -> EntryFacts {
        EntryFacts(uid: entry.uid, standing: .entry(entry), mark: UID(20), now: Self.now)
    }

    private func explain(_ facts: EntryFacts) -> EntryExplanation { EntryExplanation(facts) }

    private func text(_ facts: EntryFacts) -> String { explain(facts).sentences.joined(separator: " ") }

    private static let route = DeskStatus.Route(
        name: "default", endpoint: "https://api.push.apple.com", connection: "connected", isAway: false, inFlight: 3,
        suspects: 0, holding: nil)

    @Test("Never sent, at rest: it goes when somebody delivers the journal")
    func neverSent() throws {
        var facts = facts(try Self.entry(.neverSent))
        facts.mark = UID(12)
        #expect(explain(facts).summary == "never sent")
        #expect(
            explain(facts).sentences == [
                "It is above the send mark of its lane (12): certainly not sent.",
                "It goes when a process delivers the journal: nobody does now (`holdfast recover`, or the application that "
                    + "made it).",
            ])
    }

    @Test("Of a scheduled one is told what it waits for beside its time")
    func scheduledHeld() throws {
        func told(_ seconds: Int, _ change: (inout EntryFacts) -> Void = { _ in }) throws -> String {
            var facts = facts(try Self.entry(.scheduled(for: Self.now.advanced(by: .seconds(seconds)))))
            change(&facts)
            return text(facts)
        }
        let paused = try told(60) { $0.laneState = .paused(reason: "", since: Self.now) }
        #expect(paused.contains("(in ") && paused.contains("It goes when lane"), "\(paused)")
        #expect(!paused.contains("goes then"))
        let rest = try told(60) { $0.owner = nil }
        #expect(rest.contains("It goes when a process delivers the journal"), "\(rest)")
        let past = try told(-1) { $0.owner = "1" }
        #expect(past.contains("It may be delivered since") && past.contains("It goes in its turn."), "\(past)")
        let future = try told(60) { $0.owner = "1" }
        #expect(future.contains("on. It goes then."), "\(future)")
    }

    @Test("Of one whose place a newer one takes it is not said that it goes, whether it waits, is put off or scheduled")
    func notNewest() throws {
        let states: [JournalEntry.State] = [
            .neverSent, .deferred(until: Self.now.advanced(by: .seconds(60))),
            .scheduled(for: Self.now.advanced(by: .seconds(60))),
        ]
        for state in states {
            var facts = facts(try Self.entry(state))
            facts.laneState = .paused(reason: "", since: Self.now)
            facts.newer = UID(9)
            let text = text(facts)
            #expect(text.contains("It does not go: notification 9, to the same recipient"), "\(text)")
            #expect(text.contains("it ends as *superseded*") && !text.contains("goes then"), "\(text)")
            #expect(!text.contains("It goes"), "\(text)")
        }
    }

    @Test(
        "Possibly sent after a crash, in a lane that an operator paused: why, since when, and what the resume would do")
    func possiblySentPaused() throws {
        var facts = facts(try Self.entry(.possiblySent))
        facts.laneState = .paused(reason: "bad cert", since: Self.now.advanced(by: .seconds(-300)))
        #expect(explain(facts).summary == "possibly sent, not answered")
        #expect(
            explain(facts).sentences == [
                "It was at or below the send mark of its lane (20) when the journal was last used, and has no answer: it may "
                    + "have been sent.",
                "It goes again when lane default/immediate/at-least-once resumes (`holdfast lanes resume "
                    + "default/immediate/at-least-once`), which an operator paused at 2026-11-21T22:21:40Z (5 min ago): "
                    + "\"bad cert\".",
                "If it was taken the first time it is a duplicate then, with the same apns-id, "
                    + "00000000-0000-0001-0000-000000000002.",
            ])
        facts.laneState = .paused(reason: "", since: Self.now)
        #expect(text(facts).contains("paused at 2026-11-21T22:26:40Z (0 s ago)."))
    }

    @Test("Possibly sent above the mark: an earlier attempt had no answer")
    func flagged() throws {
        var facts = facts(try Self.entry(.possiblySent, uid: 30, attempts: 1, lastReason: .noAnswer))
        facts.owner = "process 7"
        #expect(explain(facts).sentences.first == "An earlier attempt had no answer: it may have been sent.")
        #expect(text(facts).contains("It goes again in its turn."))
    }

    @Test("In use, and its process not to be asked: the mark runs ahead, so nothing is claimed")
    func unasked() throws {
        var facts = facts(try Self.entry(.possiblySent))
        facts.owner = "process 7"
        #expect(
            text(facts).contains("were the process that uses the journal to crash now, it would count as possibly sent")
        )
    }

    @Test("At most once: what may have been sent will not be sent again")
    func atMostOnce() throws {
        let expected =
            "It will not be sent again, since it is at-most-once: its outcome becomes *unknown* when its lane gets to it."
        #expect(explain(facts(try Self.entry(.possiblySent, lane: Self.once))).sentences.last == expected)
        let single = try Self.entry(.possiblySent, lane: Self.once) { notification in
            notification.guarantee = .atLeastOnce
            notification.expiration = .once
        }
        #expect(text(facts(single)).contains("since it is one attempt (apns-expiration 0)"))
        // Never sent, it has its attempt.
        #expect(text(facts(try Self.entry(.neverSent, lane: Self.once))).contains("It goes when a process delivers"))
    }

    @Test("A stopped lane says why, and that a restart tries again")
    func stopped() throws {
        var facts = facts(try Self.entry(.neverSent))
        facts.laneState = .stopped(reason: "credentials refused: InvalidProviderToken", since: Self.now)
        #expect(
            text(facts).contains(
                "which stopped at 2026-11-21T22:26:40Z (0 s ago): credentials refused: InvalidProviderToken."))
        #expect(text(facts).contains("the lane tries one entry now and then"))
    }

    @Test(
        "What the living process knows comes first",
        arguments: [
            (
                EntryInsight.Standing.inFlight(since: EntryExplanationTests.now.advanced(by: .seconds(-4))),
                "in flight",
                "It is with a connection since 2026-11-21T22:26:36Z (4 s ago), sent or in its queue, and not answered yet."
            ),
            (
                .inFlight(since: nil), "in flight",
                "It is with a connection, sent or in its queue, and not answered yet."
            ),
            (.settling, "answered", "It was answered; what follows is being written to the journal."),
            (
                .suspect(.badDeviceToken), "suspect",
                "The service called its token bad (BadDeviceToken), which is being judged"
            ),
            (.requeued(possiblySent: true), "possibly sent, goes again", "It was handed out, and no answer came"),
            (
                .requeued(possiblySent: false), "goes again",
                "The push service has processed nothing of it; it waits to be handed out."
            ),
            (
                .possiblySentBefore, "possibly sent, not answered",
                "An earlier process may have sent it, and has no answer noted."
            ),
            (nil, "waiting", "It has not been handed out yet by the process that uses the journal."),
        ] as [(EntryInsight.Standing?, String, String)])
    func live(standing: EntryInsight.Standing?, summary: String, sentence: String) throws {
        var facts = facts(try Self.entry(.possiblySent))
        facts.owner = "process 7"
        facts.live = LiveFacts(standing: standing, route: Self.route)
        #expect(explain(facts).summary == summary)
        #expect(explain(facts).sentences.first?.hasPrefix(sentence) == true)
        // Only what may have been sent may be a duplicate.
        let mayBeTwice = standing == .possiblySentBefore || standing == .requeued(possiblySent: true)
        #expect(text(facts).contains("duplicate") == mayBeTwice)
    }

    @Test("What holds the lane up is named: nobody serves it, no connection, a route that holds")
    func hindrances() throws {
        var facts = facts(try Self.entry(.neverSent))
        facts.owner = "process 7"
        facts.live = LiveFacts(isServed: false)
        #expect(
            text(facts).contains("when a process serves its route default: the one that uses the journal does not."))
        var route = Self.route
        route.isAway = true
        route.connection = "connection refused"
        facts.live = LiveFacts(route: route)
        #expect(
            text(facts).contains("when there is a connection to https://api.push.apple.com again: connection refused."))
        route.isAway = false
        route.holding = "parked by the service"
        facts.live = LiveFacts(route: route)
        #expect(text(facts).contains("when its route default hands out again: parked by the service."))
        facts.live = LiveFacts(route: Self.route)
        #expect(text(facts).contains("It goes in its turn."))
    }

    @Test("Where the push service is silent, that comes before what is wrong with the topic") func silentService()
        throws
    {
        var facts = facts(try Self.entry(.deferred(until: WallTime(seconds: 253_370_764_800))))
        facts.owner = "process 7"
        var route = Self.route
        route.topics = [
            EngineStatus.Topic(
                topic: "com.example.app", reason: "TopicDisallowed", since: Self.now, nextProbeAt: Self.now)
        ]
        facts.live = LiveFacts(route: route)
        #expect(
            text(facts).contains(
                "It waits for its topic, com.example.app, which is set aside. It goes when the service"))
        // A try whose time has come is not told.
        #expect(!text(facts).contains("one entry of it is tried"))
        facts.live?.serviceAway = "route default is connected to its push service, and no request is answered"
        #expect(
            text(facts).contains(
                "It waits for the push service, which is away now, and then for its topic, com.example"))
        #expect(
            text(facts).contains(
                "It goes when the push service answers again: route default is connected to its push service, and no "
                    + "request is answered."))
        #expect(!text(facts).contains("TopicDisallowed"))
    }

    @Test("Deferred: how often, for what, what that means, and until when")
    func deferred() throws {
        var facts = facts(
            try Self.entry(
                .deferred(until: Self.now.advanced(by: .seconds(90))), isPossiblySent: true, attempts: 3,
                lastReason: .tooManyRequests))
        facts.owner = "process 7"
        facts.live = LiveFacts(route: Self.route)
        #expect(explain(facts).summary == "deferred")
        #expect(
            explain(facts).sentences.prefix(4) == [
                "It was put off for TooManyRequests: too many notifications went to this token or channel in a short "
                    + "time, or, where all get this answer, to the service. It was answered so, or not at all, 3 times.",
                "An earlier attempt had no answer: it may have been sent.",
                "It is due at 2026-11-21T22:28:10Z (in 90 s).", "It goes again then.",
            ])
        #expect(text(facts).contains("What to do: it goes again by itself"))
        facts = self.facts(try Self.entry(.deferred(until: Self.now.advanced(by: .seconds(-1)))))
        #expect(text(facts).contains("It is due since 2026-11-21T22:26:39Z (1 s ago)."))
        facts.laneState = .paused(reason: "night", since: Self.now)
        #expect(text(facts).contains("which an operator paused"))
    }

    @Test("Expired by now: it is not sent any more, and what becomes of it depends on whether it may have been")
    func expired() throws {
        let past = try Self.entry(.neverSent) { $0.expiration = .at(Self.now.seconds) }
        #expect(text(facts(past)).contains("is not sent any more, and its outcome becomes *expired*."))
        let sent = try Self.entry(.possiblySent) { $0.expiration = .at(Self.now.seconds - 9) }
        #expect(text(facts(sent)).contains("is not sent again, and its outcome becomes *unknown*."))
    }

    @Test("A blacklisted token is named, unless it was registered later")
    func blacklisted() throws {
        var facts = facts(try Self.entry(.neverSent))
        facts.blacklisted = BlacklistEntry(
            token: try DeviceToken("00fc13adff785122"), reason: .unregistered,
            since: Self.now.advanced(by: .seconds(-7200)),
            learntAt: Self.now, route: "default")
        #expect(
            explain(facts).sentences.last
                == "Its token is on the blacklist since 2026-11-21T20:26:40Z (2 h ago) (Unregistered, learnt on route default): "
                + "it will be rejected instead of sent, unless the token is taken off before (`holdfast blacklist remove`)."
        )
        facts.standing = .entry(try Self.entry(.neverSent) { $0.tokenRegisteredAt = Self.now })
        #expect(text(facts).contains("but was registered later than that, so it goes all the same."))
    }

    @Test("Rejected: in the service's word and in ours, with what to do")
    func rejected() throws {
        let cause = RejectionCause(
            reason: .unregistered, status: 410, timestamp: Self.now.advanced(by: .seconds(-3 * 86400)),
            rejectedAt: Self.now.advanced(by: .seconds(-30)))
        var facts = facts(try Self.entry(.rejected(cause)))
        #expect(explain(facts).summary == "rejected: Unregistered")
        #expect(
            explain(facts).sentences == [
                "It was rejected at 2026-11-21T22:26:10Z (30 s ago) with Unregistered, status 410: the app is not on the device "
                    + "any more, or takes no notifications.",
                "The service says so of its token since 2026-11-18T22:26:40Z (3 days ago).",
                "What to do: delete the token where your tokens are kept, until the app registers again.",
                "`holdfast rejections retry 17` sends it again, `holdfast rejections discard 17` deletes it.",
            ])
        facts.blacklisted = BlacklistEntry(
            token: try DeviceToken("00fc13adff785122"), reason: .unregistered, since: Self.now, learntAt: Self.now,
            route: "default")
        #expect(text(facts).contains("a retry is refused until it is taken off."))
        // One of another service's address ends by itself.
        facts.blacklisted = BlacklistEntry(
            recipient: .service(try ServiceAddress(.firebaseToken, "abc")), reason: Reason(rawValue: "UNREGISTERED"),
            since: Self.now,
            learntAt: Self.now, route: "default", expiresAt: Self.now.advanced(by: .seconds(86_400 * 30)))
        #expect(
            text(facts).contains(
                "a retry is refused until 2026-12-21T22:26:40Z (in 30 days), when it is forgotten, or until it is taken off "
                    + "before."))
    }

    @Test("A token that one environment called bad: where the notification went, and where the next ones go")
    func otherEnvironment() throws {
        let outcome = Outcome(
            cursor: OutcomeCursor(1), uid: UID(17), terminal: .confirmed,
            history: DeliveryHistory(acceptedAt: Self.now, settledAt: Self.now, attempts: 1),
            id: NotificationID(high: 1, low: 2), recipient: .device(try DeviceToken("00fc13adff785122")), topic: "t")
        var facts = EntryFacts(uid: UID(17), standing: .ended(outcome), now: Self.now)
        facts.blacklisted = BlacklistEntry(
            token: try DeviceToken("00fc13adff785122"), reason: .badDeviceToken, since: Self.now, learntAt: Self.now,
            route: "production", topic: "t", endpoint: "https://api.push.apple.com", answered: UID(17))
        let words = text(facts)
        #expect(
            words.contains(
                "sent on route production, whose service called the token bad (BadDeviceToken), and was moved"))
        #expect(words.contains("is on the blacklist of https://api.push.apple.com since"))
        #expect(words.contains("goes to the other environment at once if the route has `other-environment: try`"))
        facts.blacklisted?.answered = UID(3)
        #expect(!text(facts).contains("was moved"))
        // One that still waits may be on its way there.
        facts.standing = .entry(try Self.entry(.neverSent))
        #expect(text(facts).contains("It goes to the other environment if the route has `other-environment: try`"))
        #expect(!text(facts).contains("it will be rejected instead of sent"))
        facts.blacklisted?.reason = .unregistered
        #expect(text(facts).contains("it will be rejected instead of sent"))
    }

    @Test("A retry names the rejection it was made of")
    func retry() throws {
        #expect(
            explain(facts(try Self.entry(.neverSent, retryOf: UID(3)))).sentences.last
                == "An operator made it of the rejection 3, to send that again.")
    }

    @Test(
        "What has met its end is told as far as it is known",
        arguments: [
            (EntryFacts.Standing.settled(.confirmed), "settled: confirmed", "The push service took it."),
            (
                .settled(.rejected(.badTopic)), "settled: rejected (BadTopic)",
                "It was rejected with BadTopic: the apns-topic is none."
            ),
            (.settled(.expired), "settled: expired", "Its expiration came"),
            (.settled(.unknown), "settled: unknown", "It may have been sent"),
            (.settled(.withdrawn), "settled: withdrawn", "It was taken back"),
            (.forgotten, "settled", "It has met its end"),
            (.never, "never given out", "No notification was given this UID"),
        ] as [(EntryFacts.Standing, String, String)])
    func ended(standing: EntryFacts.Standing, summary: String, sentence: String) {
        let explanation = explain(EntryFacts(uid: UID(3), standing: standing, now: Self.now))
        #expect(explanation.summary == summary)
        #expect(explanation.sentences.first?.hasPrefix(sentence) == true)
    }

    @Test("Every sentence ends with a full stop, and every reason that has a name in the library has an explanation")
    func reasons() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let source = try [
            "Holdfast/Values/Reason.swift", "HoldfastAPNsAnswers/Reason+APNs.swift",
            "HoldfastFCM/Answers/Reason+FCM.swift",
        ].map {
            try String(contentsOf: root.appendingPathComponent("Sources/\($0)"), encoding: .utf8)
        }.joined()
        let names = source.matches(of: /Reason\(rawValue: "(\w+)"\)/).map { Reason(rawValue: String($0.output.1)) }
        #expect(names.count > 50)
        for name in names { #expect(ReasonGuide.all[name] != nil, "\(name)") }
        for (reason, guide) in ReasonGuide.all {
            for text in [guide.meaning, guide.advice].compactMap({ $0 }) {
                #expect(
                    !text.hasSuffix(".") && text.first?.isUppercase == false || text.hasPrefix("`"),
                    "\(reason): \(text)")
            }
        }
        #expect(ReasonGuide.of(Reason(rawValue: "SomethingNew"), status: 418).meaning.contains("status 418"))
    }

    @Test("The text is broken between words, and holds no control characters")
    func wrapped() throws {
        var facts = facts(try Self.entry(.neverSent))
        facts.laneState = .paused(reason: "a\u{1B}[31m" + String(repeating: " word", count: 60), since: Self.now)
        let lines = explain(facts).text(of: UID(17)).split(separator: "\n")
        #expect(lines.first == "entry 17: never sent")
        #expect(lines.count > 4 && lines.allSatisfy { $0.count <= 94 && !$0.contains("\u{1B}") })
    }
}
