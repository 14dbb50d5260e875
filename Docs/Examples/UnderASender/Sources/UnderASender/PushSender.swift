import AsyncHTTPClient
import Foundation
import NIOCore

/// The sender that the application had before: it knows nothing of Holdfast, and keeps nothing.
struct PushSender {
    /// An answer of the push service.
    struct Answer {
        let status: Int
        let reason: String?
    }

    private struct ErrorBody: Decodable { let reason: String }

    let http: HTTPClient
    let service: String

    func send(_ payload: [UInt8], to token: String, topic: String, id: String) async throws -> Answer {
        var request = HTTPClientRequest(url: "\(service)/3/device/\(token)")
        request.method = .POST
        request.headers.add(contentsOf: ["apns-topic": topic, "apns-push-type": "alert", "apns-id": id])
        request.body = .bytes(payload)
        let response = try await http.execute(request, timeout: .seconds(20))
        let body = try await response.body.collect(upTo: 4096)
        let error = try? JSONDecoder().decode(ErrorBody.self, from: Data(body.readableBytesView))
        return Answer(status: Int(response.status.code), reason: error?.reason)
    }
}
