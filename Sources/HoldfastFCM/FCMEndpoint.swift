internal import Holdfast
internal import HoldfastTransport

/// The address of Firebase Cloud Messaging.
public struct FCMEndpoint: Hashable, Sendable, CustomStringConvertible {
    /// The host name or address.
    public let host: String
    /// The TCP port.
    public let port: Int
    /// Whether connections are without TLS. For tests, on loopback only.
    public let isCleartext: Bool

    /// `fcm.googleapis.com:443`
    public static let production = FCMEndpoint(host: "fcm.googleapis.com", port: 443, isCleartext: false)

    private init(host: String, port: Int, isCleartext: Bool) {
        (self.host, self.port, self.isCleartext) = (host, port, isCleartext)
    }

    /// Parses the text of an endpoint.
    ///
    /// - Parameter text: `production`; `https://HOST[:PORT]`, with port 443 by default; or `http://` with a loopback address,
    ///   for cleartext.
    /// - Throws: ``FCMConfigurationError`` with the reason.
    public init(_ text: String) throws(FCMConfigurationError) {
        guard text != "production" else {
            self = .production
            return
        }
        do throws(TransportConfigurationError) {
            let (place, isCleartext) = try HostAndPort.ofService(text, orElse: "production")
            self.init(host: place.host, port: place.port, isCleartext: isCleartext)
        } catch {
            throw FCMConfigurationError("the endpoint \(text.prefix(200).debugDescription) \(error.message)")
        }
    }

    /// Host and port as the `:authority` of a request.
    var authority: String {
        port == (isCleartext ? 80 : 443) && !host.contains(":") ? host : HostAndPort.text(host: host, port: port)
    }

    /// The URL, such as `https://fcm.googleapis.com:443`.
    public var description: String {
        "\(isCleartext ? "http" : "https")://\(HostAndPort.text(host: host, port: port))"
    }
}
