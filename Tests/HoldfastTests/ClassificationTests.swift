import Holdfast
import HoldfastAPNsAnswers
import Testing

/// The table of Docs/Reference/Answers.md, line by line.
@Suite struct ClassificationTests {
    @Test(
        "Every answer Apple documents means what the table says",
        arguments: [
            (200, nil, SendResult.Verdict.confirmed),
            (410, "Unregistered", .rejected(.token)),
            (410, "ExpiredToken", .rejected(.token)),
            (400, "BadDeviceToken", .rejected(.suspectToken)),
            (400, "DeviceTokenNotForTopic", .rejected(.suspectToken)),
            (400, "BadCollapseId", .rejected(.notification)),
            (400, "BadExpirationDate", .rejected(.notification)),
            (400, "BadMessageId", .rejected(.notification)),
            (400, "BadPriority", .rejected(.notification)),
            (400, "InvalidPushType", .rejected(.notification)),
            (400, "DuplicateHeaders", .rejected(.notification)),
            (400, "MissingDeviceToken", .rejected(.notification)),
            (400, "PayloadEmpty", .rejected(.notification)),
            (400, "MissingPushType", .rejected(.notification)),
            (413, "PayloadTooLarge", .rejected(.notification)),
            (404, "BadPath", .rejected(.request)),
            (405, "MethodNotAllowed", .rejected(.request)),
            (400, "MissingTopic", .laneStopped(.topic)),
            (400, "BadTopic", .laneStopped(.topic)),
            (400, "TopicDisallowed", .laneStopped(.topic)),
            (403, "BadCertificate", .laneStopped(.credentials)),
            (403, "BadCertificateEnvironment", .laneStopped(.credentials)),
            (403, "Forbidden", .laneStopped(.credentials)),
            (403, "InvalidProviderToken", .laneStopped(.credentials)),
            (403, "MissingProviderToken", .laneStopped(.credentials)),
            (403, "BadEnvironmentKeyIdInToken", .laneStopped(.credentials)),
            (403, "BadEnvironmentKeyInToken", .laneStopped(.credentials)),
            (403, "ExpiredProviderToken", .neverProcessed(.newProviderToken)),
            (403, "UnrelatedKeyIdInToken", .neverProcessed(.newConnection)),
            (429, "TooManyRequests", .deferred(.token)),
            (429, "TooManyProviderTokenUpdates", .deferred(.credentials)),
            (400, "IdleTimeout", .neverProcessed(.newConnection)),
            (503, "Shutdown", .neverProcessed(.newConnection)),
            (500, "InternalServerError", .deferred(.service)),
            (503, "ServiceUnavailable", .deferred(.service)),
        ] as [(Int, String?, SendResult.Verdict)])
    func documented(_ status: Int, _ reason: String?, _ verdict: SendResult.Verdict) {
        #expect(SendResult(apnsStatus: status, reason: reason).verdict == verdict)
    }

    @Test("An error without a reason, such as a proxy's 502, is told as another server's")
    func withoutReason() {
        for status in [429, 500, 502, 503, 504] {
            let result = SendResult(apnsStatus: status)
            #expect(result.verdict == .deferred(.service) && result.reason == .foreignAnswer)
            #expect(result.mayHaveBeenTaken == (status != 429))
        }
        #expect(SendResult(apnsStatus: 200).reason == nil)
    }

    @Test(
        "A reason nobody has heard of is kept, and classified by its status",
        arguments: [
            (400, SendResult.Verdict.rejected(.notification)), (403, .laneStopped(.credentials)),
            (418, .rejected(.notification)),
            (429, .deferred(.token)), (500, .deferred(.service)), (599, .deferred(.service)), (302, .foreign),
        ] as [(Int, SendResult.Verdict)])
    func unknownReason(_ status: Int, _ verdict: SendResult.Verdict) {
        let result = SendResult(apnsStatus: status, reason: "SomethingNew")
        #expect(result.verdict == verdict)
        #expect(result.reason?.rawValue == "SomethingNew")
    }

    @Test("A 410 with an unknown word speaks of the token only if it says since when the token is gone")
    func unknownGone() {
        let since = WallTime(seconds: 1_700_000_000)
        for word in ["SomethingNew", String(repeating: "0a", count: 32)] {
            #expect(SendResult(apnsStatus: 410, reason: word).verdict == .rejected(.notification))
            #expect(SendResult(apnsStatus: 410, reason: word, timestamp: since).verdict == .rejected(.token))
        }
        #expect(SendResult(apnsStatus: 410, timestamp: since).verdict == .foreign)
        #expect(
            SendResult(apnsStatus: 400, reason: "SomethingNew", timestamp: since).verdict == .rejected(.notification))
    }

    @Test(
        "A reason that has not the form of a word is never kept",
        arguments: [
            String(repeating: "feedbeef", count: 8), String(repeating: "FEEDBEEF", count: 8), "FEEDBEEF",
            "Bad token feedbeef for SECRET", "eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQzEyMyJ9", "x\u{1B}[2J", "Two words",
            "MEUCIQDtVhXkSd", "QmFzZVNpeHR5Rm91cklzTm90QVdvcmQ", #"{"aps":{"alert":"Hello"}}"#, "lowerCase", "Größe",
            "line\nbreak", "Four1234", "A" + String(repeating: "b", count: 48),
        ])
    func noWord(_ text: String) {
        let result = SendResult(apnsStatus: 403, reason: text)
        #expect(result.reason == .other)
        #expect(result.verdict == .laneStopped(.credentials))
    }

    @Test(
        "Words of Apple's form are kept, whether they are known or not",
        arguments: ["NewInIOS99", "PayloadNotJSON", "Service Unavailable", "BadEnvironmentKeyIdInToken", "Forbidden"])
    func word(_ text: String) {
        #expect(SendResult(apnsStatus: 403, reason: text).reason?.rawValue == text)
    }

    @Test(
        "An error without a reason is not Apple's, but for those that ask for patience",
        arguments: [
            (204, SendResult.Verdict.foreign), (302, .foreign), (400, .foreign), (401, .foreign), (403, .foreign),
            (404, .foreign), (405, .foreign), (407, .foreign), (410, .foreign), (413, .foreign), (421, .foreign),
            (429, .deferred(.service)), (500, .deferred(.service)), (502, .deferred(.service)),
            (503, .deferred(.service)),
        ] as [(Int, SendResult.Verdict)])
    func noReason(_ status: Int, _ verdict: SendResult.Verdict) {
        let result = SendResult(apnsStatus: status)
        #expect(result.verdict == verdict)
        #expect(result.mayHaveBeenTaken == (status >= 500))
        #expect(SendResult(apnsStatus: status, reason: "").verdict == verdict)
        #expect(SendResult(apnsStatus: status, reason: "").mayHaveBeenTaken == (status >= 500))
    }

    @Test("Behind any 5xx but a 503 with a reason, the notification may have been taken")
    func failedBehindItsWork() {
        for reason in ["Shutdown", "ServiceUnavailable"] {
            #expect(!SendResult(apnsStatus: 503, reason: reason).mayHaveBeenTaken)
        }
        for reason in ["InternalServerError", "SomethingNew"] {
            #expect(SendResult(apnsStatus: 500, reason: reason).mayHaveBeenTaken)
        }
        #expect([502, 504, 520].allSatisfy { SendResult(apnsStatus: $0, reason: "Gateway Timeout").mayHaveBeenTaken })
        #expect(!SendResult(apnsStatus: 429, reason: "TooManyRequests").mayHaveBeenTaken)
    }
}
