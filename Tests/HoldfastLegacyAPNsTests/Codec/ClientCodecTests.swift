import Holdfast
import HoldfastTesting
import NIOCore
import Testing

@testable import HoldfastLegacyAPNs

@Suite("What a client of the binary protocol writes and reads") struct ClientCodecTests {
    private let token: [UInt8] = (0..<32).map { $0 + 0xA0 }

    private func notification(_ expiration: Expiration, _ priority: Priority?) throws -> PushNotification {
        PushNotification(
            token: try #require(DeviceToken(bytes: token)), topic: "com.example.app", payload: Array("{}".utf8),
            priority: priority, expiration: expiration)
    }

    @Test("A notification is a frame of command 2, its identifier first") func frame() throws {
        let bytes = try Entries.frame(notification(.at(0x0102_0304), .considerate), identifier: 0xDEAD_BEEF)
        let golden: [UInt8] =
            [2, 0, 0, 0, 58]
            + [3, 0, 4, 0xDE, 0xAD, 0xBE, 0xEF]
            + [1, 0, 32] + token
            + [2, 0, 2, 0x7B, 0x7D]
            + [4, 0, 4, 1, 2, 3, 4]
            + [5, 0, 1, 5]
        #expect(bytes == golden)
    }

    @Test("Expiry 0 is sent only when one attempt was asked for; other times stay within the wire's 32 bits")
    func expiration() throws {
        func sent(_ expiration: Expiration) throws -> [UInt8] {
            Array(try Entries.frame(notification(expiration, nil), identifier: 1).dropLast(4).suffix(4))
        }
        #expect(try sent(.at(0)) == [0, 0, 0, 0])
        #expect(try sent(.at(1)) == [0, 0, 0, 1])
        #expect(try sent(.at(-5)) == [0, 0, 0, 1])
        #expect(try sent(.at(1 << 40)) == [0xFF, 0xFF, 0xFF, 0xFF])
    }

    @Test("Priority 10 is the default, and HTTP/2's 1 becomes 5") func priority() throws {
        func sent(_ priority: Priority?) throws -> UInt8? {
            try Entries.frame(notification(.at(1), priority), identifier: 1).last
        }
        #expect(try sent(nil) == 10)
        #expect(try sent(.immediate) == 10)
        #expect(try sent(.considerate) == 5)
        #expect(try sent(Priority(rawValue: 1)) == 5)
    }

    @Test("A barrier is a command 1 with a token of no bytes") func barrier() {
        var buffer = ByteBuffer()
        BinaryFrameWriter.appendBarrier(identifier: 7, to: &buffer)
        let golden: [UInt8] = [1, 0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0, 10] + Array(#"{"aps":{}}"#.utf8)
        #expect(Array(buffer.readableBytesView) == golden)
    }

    @Test("An error response is read from any pieces, and what follows it means nothing", arguments: 0...7)
    func errorResponse(split: Int) throws {
        let bytes: [UInt8] = [8, 7, 0x80, 0, 0, 1, 9]
        var reader = ErrorResponseReader()
        let first = try reader.receive(bytes.span.extracting(0..<split))
        #expect((first != nil) == (split >= 6))
        let answer = try first ?? reader.receive(bytes.span.extracting(split..<bytes.count))
        #expect(answer == ErrorResponse(status: .invalidPayloadSize, identifier: 0x8000_0001))
    }

    @Test("An error response is written as it is read") func errorResponseOut() {
        var bytes: [UInt8] = []
        ErrorResponse(status: BinaryStatus(rawValue: 128), identifier: 0x0102_0304).append(to: &bytes)
        #expect(bytes == [8, 128, 1, 2, 3, 4])
    }

    @Test("Whoever answers in another protocol is found out by the first byte") func noErrorResponse() {
        var reader = ErrorResponseReader()
        #expect(throws: ErrorResponseReader.NotAnErrorResponse(firstByte: 0x48)) {
            try reader.receive(Array("HTTP/1.1 400".utf8).span)
        }
    }

    @Test(
        "Each status has its meaning: bad tokens are blacklisted, bad payloads leave the token alone, the rest is tried again",
        arguments: [
            (2, .rejected(.token), "MissingDeviceToken"), (5, .rejected(.token), "InvalidTokenSize"),
            (8, .rejected(.suspectToken), "InvalidToken"), (3, .rejected(.notification), "MissingTopic"),
            (4, .rejected(.notification), "MissingPayload"), (6, .rejected(.notification), "InvalidTopicSize"),
            (7, .rejected(.notification), "InvalidPayloadSize"), (1, .deferred(.token), "ProcessingError"),
            (255, .deferred(.token), "UnknownError"), (128, .deferred(.token), "InvalidFrameItem"),
            (0, .deferred(.token), "Status0"), (77, .deferred(.token), "Status77"),
        ] as [(UInt8, SendResult.Verdict, String)])
    func status(_ status: UInt8, _ verdict: SendResult.Verdict, _ reason: String) {
        let result = SendResult(binaryStatus: status)
        #expect(result.verdict == verdict)
        #expect(result.reason?.rawValue == reason)
    }
}
