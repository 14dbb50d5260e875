import Holdfast
import NIOCore
import NIOHPACK
import Testing

@testable import HoldfastChannels

@Suite("Requests about channels, as a foreign decoder reads them")
struct ChannelRequestTests {
    private static let channel = BroadcastChannel(checked: "dHN0LXNyY2gtY2hubA==")

    @Test(
        "Method, path, channel and body are those of Apple's page",
        arguments: [
            (ChannelRequest.Action.create(.mostRecentMessage), "POST", "/1/apps/com.example.app/channels", nil),
            (.read(channel), "GET", "/1/apps/com.example.app/channels", channel.id),
            (.delete(channel), "DELETE", "/1/apps/com.example.app/channels", channel.id),
            (.list, "GET", "/1/apps/com.example.app/all-channels", nil),
        ])
    func fields(_ action: ChannelRequest.Action, _ method: String, _ path: String, _ channel: String?) throws {
        let request = ChannelRequest(action, bundleID: "com.example.app")
        let block = request.headerBlock(
            authority: "h:1", isCleartext: false, authorization: Array("bearer secret".utf8))
        var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
        var buffer = ByteBuffer(bytes: block)
        let headers = try decoder.decodeHeaders(from: &buffer)
        var expected = [
            (":method", method), (":scheme", "https"), (":path", path), (":authority", "h:1"),
            ("authorization", "bearer secret"), ("apns-request-id", request.id),
        ]
        if let channel { expected.append(("apns-channel-id", channel)) }
        if case .create = action { expected.append(("content-type", "application/json")) }
        #expect(headers.map(\.name) == expected.map(\.0) && headers.map(\.value) == expected.map(\.1))
        // No proxy may keep a secret in its table.
        for (name, _, indexing) in headers where name == "authorization" { #expect(indexing == .neverIndexed) }
        let body = String(decoding: request.body, as: UTF8.self)
        if case .create = action {
            #expect(body == #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)
        } else {
            #expect(body.isEmpty)
        }
    }
}
