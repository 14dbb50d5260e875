package import Holdfast
package import HoldfastAPNs
internal import HoldfastFCM

/// How an HTTP/2 route gets to the service, and keeps its connections.
package struct NetworkSettings: Equatable, Sendable {
    /// `nil` for none.
    package var proxy: ProxyServer?
    /// `nil` for the endpoint's host.
    package var serverName: String?
    package var verifiesHostName = true
    package var streams = 1000
    package var sendDeadline: Duration = .seconds(30)
    /// Nothing for never.
    package var idleClose: Duration = .seconds(12 * 3600)

    /// What holds for FCM where nothing is said.
    package static let firebase: NetworkSettings = {
        var settings = NetworkSettings()
        // More end the connection, and Google's servers close one that rests for long.
        (settings.streams, settings.idleClose) = (100, .seconds(600))
        return settings
    }()

    /// In the section of a route.
    package static let keys = [
        ConfigKey(
            "proxy", .proxy, "HTTP/2: what connections go through; port 3128, or 1080 for SOCKS, where none is named"),
        ConfigKey(
            "server-name", .text("a host name", 1...253),
            "HTTP/2: the host name that the service's certificate must be for, where it is not the endpoint's"),
        ConfigKey(
            "verify-host-name", .flag, default: "true",
            "Apple's HTTP/2: `false` takes any name in a certificate that `trust` signed, and is warned of at each start"
        ),
        ConfigKey(
            "streams", .count(1...4096),
            "HTTP/2: requests at a time on a connection at most, whatever more the service allows; without it, 1000 to Apple, "
                + "100 to FCM"),
        ConfigKey(
            "send-deadline", .duration(.seconds(1)...(.seconds(3600))), default: "30s",
            "HTTP/2: how long an answer is waited for; then nobody knows whether the notification was taken"),
        ConfigKey(
            "idle-close", .duration(.zero...(.seconds(30 * 24 * 3600))),
            "HTTP/2: a connection that has had nothing to send for so long is closed; `0s` for never. Without it, 12h to "
                + "Apple, 10m to FCM"),
    ]

    package init() {}

    /// - Precondition: the values are without a mistake.
    package init(_ values: ConfigValues) {
        if FirebaseSettings.areMeant(values) { self = .firebase }
        proxy = values.proxy
        serverName = values.text("server-name")
        verifiesHostName = values.flag("verify-host-name") ?? true
        streams = values.count("streams") ?? streams
        sendDeadline = values.duration("send-deadline") ?? sendDeadline
        idleClose = values.duration("idle-close") ?? idleClose
    }

    package func apply(to configuration: inout APNsConnector.Configuration) {
        configuration.proxy = proxy
        configuration.serverName = serverName
        configuration.verifiesHostName = verifiesHostName
        configuration.maximumStreams = streams
        configuration.sendDeadline = sendDeadline
        configuration.idleClose = idleClose > .zero ? idleClose : nil
    }

    func apply(to configuration: inout FCMConnector.Configuration) {
        configuration.proxy = proxy
        configuration.serverName = serverName
        configuration.maximumStreams = streams
        configuration.sendDeadline = sendDeadline
        configuration.idleClose = idleClose > .zero ? idleClose : nil
    }
}

extension ConfigValues {
    /// The value of `proxy`.
    ///
    /// - Precondition: the values are without a mistake.
    var proxy: ProxyServer? {
        do throws(APNsConfigurationError) {
            return try text("proxy").map { text throws(APNsConfigurationError) in try ProxyServer(text) }
        } catch {
            preconditionFailure("the key's type has taken it")
        }
    }
}

extension ConfigType {
    /// A proxy. Its user and password are never shown again.
    package static let proxy = ConfigType(
        allowed: "`http://[USER:PASSWORD@]HOST[:PORT]`, or `socks5://`, `socks4://`, `socks4a://`",
        isSecret: true
    ) {
        text, _ throws(Fault) in
        do throws(APNsConfigurationError) {
            _ = try ProxyServer(text)
        } catch {
            throw Fault(message: "is no proxy: \(error.message)")
        }
        return .text(text)
    } write: { value in
        guard case .text(let text) = value, !text.contains("@") else { return "(secret)" }
        return text
    }
}
