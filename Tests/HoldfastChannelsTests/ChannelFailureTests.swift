import Foundation
import Holdfast
import HoldfastChannels
import HoldfastMockAPNs
import HoldfastMocking
import Testing

@testable import HoldfastAPNs

@Suite("When managing channels fails")
struct ChannelFailureTests {
    @Test(
        "What the service says becomes a kind of failure, with its status and its word as they came",
        arguments: [
            (MockRejection("ChannelNotRegistered"), ChannelError.Code.notRegistered),
            (MockRejection("CannotCreateChannelConfig"), .tooManyChannels),
            (MockRejection("FeatureNotEnabled"), .refused), (MockRejection("BadPath"), .refused),
            (MockRejection("InvalidProviderToken"), .notAuthorized), (MockRejection("Forbidden"), .notAuthorized),
            (MockRejection("TooManyRequests", retryAfter: "7"), .unavailable),
            (MockRejection("InternalServerError"), .unavailable), (MockRejection("Service Unavailable"), .unavailable),
            (MockRejection("NewInIOS99", status: 418), .refused), (MockRejection("New", status: 599), .unavailable),
        ])
    func refusals(_ rejection: MockRejection, _ code: ChannelError.Code) async throws {
        try await ChannelService.run {
            $0.script = [.request(MockAnswer(.rejected(rejection)))]
        } _: { service async throws in
            let manager = try service.manager()
            let error = try #require(await channelError { _ = try await manager.create(storagePolicy: .noMessage) })
            #expect(error.code == code && error.status == rejection.status && error.reason == rejection.reason)
            #expect(error.message.contains(rejection.reason) && error.message.contains("apns-request-id"))
            #expect(error.retryAfter == (rejection.retryAfter == nil ? nil : .seconds(7)))
            #expect(error.message.contains("wait 7 s") == (rejection.retryAfter != nil))
            #expect(service.mock.counters.requests == 1)
        }
    }

    @Test("A reason that is no word is not repeated") func noWord() async throws {
        try await ChannelService.run {
            $0.script = [.request(MockAnswer(.rejected(MockRejection("Not \"yours\" ☃", status: 418))))]
        } _: { service async throws in
            let manager = try service.manager()
            let error = try #require(await channelError { _ = try await manager.create(storagePolicy: .noMessage) })
            #expect(error.code == .refused && error.status == 418 && error.reason == "other")
            #expect(error.message.contains("says 418 with a reason that is none of the service's words"))
        }
    }

    @Test("How long to wait may be a date, and is a day at most")
    func retryDate() async throws {
        for (date, wait) in [("Fri, 31 Dec 9999 23:59:59 GMT", 86_400), ("Sun, 06 Nov 1994 08:49:37 GMT", 0)] {
            try await ChannelService.run {
                $0.script = [.request(MockAnswer(.rejected(MockRejection("TooManyRequests", retryAfter: date))))]
            } _: { service async throws in
                let error = try #require(await channelError { _ = try await service.manager().list() })
                #expect(error.retryAfter == .seconds(wait) && error.message.contains("wait \(wait) s"))
            }
        }
    }

    @Test("An answer that is no JSON has a status and no reason")
    func foreignAnswer() async throws {
        try await ChannelService.run {
            $0.script = [.request(MockAnswer(.response(status: 502, body: Array("<html>Bad Gateway</html>".utf8))))]
        } _: { service async throws in
            let error = try #require(await channelError { _ = try await service.manager().list() })
            #expect(error.code == .unavailable && error.status == 502 && error.reason == nil)
            #expect(error.message.contains("status 502"))
        }
    }

    @Test("What was never looked at is tried again, and done once")
    func neverLookedAt() async throws {
        for answer in [
            MockAnswer(.reset(code: 7)), MockAnswer(.rejected("Shutdown")), MockAnswer(.rejected("IdleTimeout")),
            MockAnswer(
                .silence, then: [.goAway(MockGoAway(offset: -1, debugData: #"{"reason":"Shutdown"}"#)), .close]),
        ] {
            try await ChannelService.run {
                $0.script = [.request(.init(first: 1), answer)]
            } _: { service async throws in
                let channel = try await service.manager().create(storagePolicy: .noMessage)
                #expect(service.mock.channels.map(\.id) == [channel.id], "\(answer.content)")
                #expect(service.mock.counters.connections == 2)
            }
        }
    }

    @Test("It is tried three times at most")
    func patience() async throws {
        try await ChannelService.run {
            $0.script = [.request(MockAnswer(.reset(code: 7)))]
        } _: { service async throws in
            let error = try #require(await channelError { _ = try await service.manager().list() })
            #expect(error.code == .unreachable && error.message.contains("REFUSED_STREAM"))
            #expect(service.mock.counters.requests == 3)
        }
    }

    @Test("What may have been done is not tried again, and the error says where to look")
    func unknownOutcome() async throws {
        let answers = [
            MockAnswer(.acceptedInSilence, ending: .close), MockAnswer(.acceptedInSilence, ending: .reset),
            MockAnswer(.acceptedAndReset(code: 2)),
        ]
        for answer in answers {
            try await ChannelService.run {
                $0.script = [.request(.init(first: 1), answer)]
            } _: { service async throws in
                let manager = try service.manager()
                let error = try #require(await channelError { _ = try await manager.create(storagePolicy: .noMessage) })
                #expect(error.code == .unknownOutcome && error.message.contains("the list of channels shows it"))
                #expect(service.mock.channels.count == 1)
                #expect(try await manager.list().map(\.id) == service.mock.channels.map(\.id))
            }
        }
    }

    @Test("What changes nothing is asked again, whatever became of it")
    func repeated() async throws {
        try await ChannelService.run {
            $0.script = [.request(.init(first: 2), MockAnswer(.silence, ending: .close))]
        } _: { service async throws in
            #expect(try await service.manager().list().isEmpty)
            #expect(service.mock.counters.requests == 3)
        }
    }

    @Test("A service that does not answer is waited for so long, and no longer")
    func silence() async throws {
        try await ChannelService.run {
            $0.script = [.request(MockAnswer(.silence))]
        } _: { service async throws in
            var service = service
            service.configuration.sendDeadline = .milliseconds(100)
            let manager = try service.manager()
            let channel = try BroadcastChannel("YWJj")
            let error = try #require(await channelError { try await manager.delete(channel) })
            #expect(error.code == .unknownOutcome && error.message.contains("did not answer within 0.1 seconds"))
            #expect(error.message.contains("it may be gone all the same"))
            let listing = try #require(await channelError { _ = try await manager.list() })
            #expect(listing.code == .unreachable)
        }
    }

    @Test("A task that is cancelled waits no longer")
    func cancellation() async throws {
        let arrived = AsyncStream<Void>.makeStream()
        try await ChannelService.run {
            $0.script = [.request(MockAnswer(.silence))]
            $0.observer = { _ in arrived.continuation.yield() }
        } _: { service async throws in
            let manager = try service.manager()
            await withTaskGroup(of: ChannelError?.self) { group in
                group.addTask { await channelError { _ = try await manager.create(storagePolicy: .noMessage) } }
                for await _ in arrived.stream { break }
                group.cancelAll()
                #expect(await group.next()??.code == .unknownOutcome)
            }
        }
    }

    @Test("What is cancelled before it was its turn is not asked for")
    func cancelledInTheRow() async throws {
        let arrived = AsyncStream<Void>.makeStream()
        try await ChannelService.run {
            $0.script = [.request(.init(first: 1), MockAnswer(.silence))]
            $0.observer = { _ in arrived.continuation.yield() }
        } _: { service async throws in
            let manager = try service.manager()
            let first = Task { await channelError { _ = try await manager.list() } }
            for await _ in arrived.stream { break }
            let second = Task { await channelError { _ = try await manager.create(storagePolicy: .noMessage) } }
            // Whether it is in the row by then or not, it ends.
            try await Task.sleep(for: .milliseconds(20))
            second.cancel()
            #expect(await second.value?.code == .unreachable)
            first.cancel()
            _ = await first.value
            #expect(service.mock.counters.requests == 1 && service.mock.channels.isEmpty)
            #expect(try await manager.list().isEmpty)
        }
    }

    @Test("A task that is cancelled already asks for nothing")
    func cancelledBefore() async throws {
        try await ChannelService.run { service async throws in
            let manager = try service.manager()
            // Over a connection that is there: opening one would end at once.
            _ = try await manager.list()
            let late = Task {
                while !Task.isCancelled { await Task.yield() }
                return await channelError { _ = try await manager.create(storagePolicy: .noMessage) }
            }
            late.cancel()
            #expect(await late.value?.code == .unreachable)
            #expect(try await manager.list().isEmpty)
        }
    }

    @Test("Nobody who listens is unreachable; a certificate that nobody trusts is a matter of configuration")
    func noConnection() async throws {
        try await ChannelService.run { service async throws in
            let nowhere = try ChannelManager(
                bundleID: "com.example.app", service.configuration, endpoint: APNsEndpoint("https://127.0.0.1:1"))
            let error = try #require(await channelError { _ = try await nowhere.list() })
            #expect(error.code == .unreachable && error.message.contains("https://127.0.0.1:1"))

            var service = service
            service.configuration.trust = .system
            let distrust = try #require(await channelError { _ = try await service.manager().list() })
            #expect(distrust.code == .configuration && distrust.message.contains("not trusted"))
            #expect(service.mock.counters.requests == 0)
        }
    }

    @Test("A service that does not get as far as HTTP/2 is unreachable, and says so in time")
    func noHandshake() async throws {
        for plan in [
            MockConnectionPlan(tls: .stalled), MockConnectionPlan(settings: .never),
            MockConnectionPlan(welcome: .reset),
        ] {
            try await ChannelService.run {
                $0.script = [.connection(.init(address: "management"), plan)]
            } _: { service async throws in
                var service = service
                service.configuration.connectDeadline = .milliseconds(200)
                let error = try #require(await channelError { _ = try await service.manager().list() })
                #expect(error.code == .unreachable, "\(error)")
                #expect(service.mock.counters.connections == 3 && service.mock.counters.requests == 0)
            }
        }
        try await ChannelService.run {
            $0.script = [.connection(.init(address: "management"), MockConnectionPlan(tls: .withoutALPN))]
        } _: { service async throws in
            let error = try #require(await channelError { _ = try await service.manager().list() })
            #expect(error.code == .configuration && error.message.contains("ALPN"))
        }
    }

    @Test("Answers that are not what Apple documents are faults, and never a channel")
    func malformedAnswers() async throws {
        let lists = [
            "", "{}", "[]", #"{"channels":"YWJj"}"#, #"{"channels":["YWJj",7]}"#, #"{"channels":["not base64"]}"#,
            #"{"channels":[""#, String(repeating: "[", count: 60_000),
            #"{"channels":[""# + String(repeating: "YWJj", count: 1 << 19),
        ]
        for body in lists {
            try await ChannelService.run {
                $0.script = [.request(MockAnswer(.response(status: 200, body: Array(body.utf8))))]
            } _: { service async throws in
                let error = try #require(await channelError { _ = try await service.manager().list() })
                #expect(error.code == .malformedAnswer && error.status == 200, "\(body.prefix(40)): \(error)")
            }
        }
        for headers in [[], [(name: "apns-channel-id", value: "not base64")], [(name: "apns-channel-id", value: "")]] {
            try await ChannelService.run {
                $0.script = [.request(MockAnswer(.response(status: 201, headers: headers)))]
            } _: { service async throws in
                let error = await channelError { _ = try await service.manager().create(storagePolicy: .noMessage) }
                #expect(error?.code == .unknownOutcome && error?.status == 201)
            }
        }
    }

    @Test("A storage policy that nobody knows yet is kept as it came")
    func foreignPolicy() async throws {
        try await ChannelService.run {
            let body = #"{"message-storage-policy":7,"push-type":"Widget","more":[]}"#
            $0.script = [.request(MockAnswer(.response(status: 200, body: Array(body.utf8))))]
        } _: { service async throws in
            let read = try await service.manager().read(BroadcastChannel("YWJj"))
            #expect(read.storagePolicy.rawValue == 7 && read.pushType == "Widget")
        }
    }
}
