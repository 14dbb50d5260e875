import Foundation
import Holdfast
import Testing

@testable import HoldfastService

@Suite("How a route gets to its service")
struct NetworkSettingsTests {
    private func load(_ route: String) throws(ConfigError) -> RouteSettings? {
        try HoldfastConfiguration.load(
            file: nil,
            environment: Dictionary(
                uniqueKeysWithValues: route.split(separator: ";").map { pair in
                    let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
                    return ("HOLDFAST_ROUTES_0_\(parts[0])", parts[1])
                })
        ).routes.first
    }

    @Test("Each key means what it says, and without them everything is as the connector has it by itself")
    func keys() throws {
        #expect(try load("ENDPOINT=production:2197")?.network == NetworkSettings())
        let route = try load(
            "ENDPOINT=https://10.0.0.7;PROXY=socks5://me:secret@proxy.example;SERVER_NAME=push.example;"
                + "VERIFY_HOST_NAME=false;STREAMS=7;SEND_DEADLINE=5s;IDLE_CLOSE=0s")
        let network = try #require(route?.network)
        #expect(
            network.proxy == ProxyServer(.socks5, host: "proxy.example", port: 1080, user: "me", password: "secret"))
        #expect(network.serverName == "push.example" && !network.verifiesHostName)
        #expect(network.streams == 7 && network.sendDeadline == .seconds(5) && network.idleClose == .zero)
        _ = try route?.connector()
    }

    @Test(
        "On the binary protocol they mean nothing, and are refused",
        arguments: [
            "PROXY=http://proxy.example", "SERVER_NAME=x", "VERIFY_HOST_NAME=false", "STREAMS=7", "SEND_DEADLINE=5s",
            "IDLE_CLOSE=1h",
        ])
    func binary(_ key: String) {
        let error = #expect(throws: ConfigError.self) { try load("ENDPOINT=binary+tls://gateway.example:2195;\(key)") }
        #expect(error?.lines.contains { $0.contains("is for HTTP/2") } == true)
    }

    @Test("The password of a proxy is told by no mistake")
    func secret() throws {
        for proxy in ["https://me:hunter2@proxy.example", "socks4://me:hunter2@proxy.example", "me:hunter2@x"] {
            let error = #expect(throws: ConfigError.self) { try load("ENDPOINT=sandbox;PROXY=\(proxy)") }
            let lines = error?.lines.joined() ?? ""
            #expect(lines.contains("proxy") && !lines.contains("hunter2"), "\(lines)")
        }
    }
}
