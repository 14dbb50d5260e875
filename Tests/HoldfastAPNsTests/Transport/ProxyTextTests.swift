import Testing

@testable import Holdfast
@testable import HoldfastAPNs
@testable import HoldfastTransport

@Suite struct ProxyTextTests {
    @Test(
        "Proxies are read as people write them",
        arguments: [
            ("http://proxy.example", "http://proxy.example:3128", nil, nil),
            ("HTTP://proxy.example:8080/", "http://proxy.example:8080", nil, nil),
            ("http://me:p%40ss%3Aword@proxy.example", "http://proxy.example:3128", "me", "p@ss:word"),
            ("socks5://me:secret@[::1]:1081", "socks5://[::1]:1081", "me", "secret"),
            ("socks5h://10.0.0.1", "socks5://10.0.0.1:1080", nil, nil),
            ("socks4://me@10.0.0.1", "socks4://10.0.0.1:1080", "me", nil),
            ("socks4a://10.0.0.1:9", "socks4a://10.0.0.1:9", nil, nil),
        ] as [(String, String, String?, String?)])
    func good(_ text: String, _ description: String, _ user: String?, _ password: String?) throws {
        let proxy = try ProxyServer(text)
        #expect(proxy.description == description)
        #expect(proxy.user == user)
        #expect(proxy.password == password)
    }

    @Test(
        "What is no proxy is refused, without a word of its password",
        arguments: [
            "", "proxy.example:8080", "https://me:hunter2@proxy.example", "me:hunter2@proxy.example",
            "http://me:hunter2@", "http://me:hunter2@host:0", "http://me:hunter2@host/path",
            "http://a:hunter2%zz@host", "http://:hunter2@host", "socks5://me:@host", "socks5://me@host",
            "socks4://me:hunter2@host", "http://me%3Ayou:hunter2@host",
            "socks5://me:hunter2\(String(repeating: "x", count: 255))@host",
        ])
    func bad(_ text: String) {
        let error = #expect(throws: APNsConfigurationError.self) { try ProxyServer(text) }
        #expect(error?.message.contains("hunter2") == false)
        #expect(error?.message.contains("the proxy") == true)
    }

    @Test("Nothing that prints a proxy prints its password") func secret() throws {
        let proxy = try ProxyServer("http://me:hunter2@proxy.example")
        var configuration = APNsConnector.Configuration(endpoint: .sandbox)
        configuration.proxy = proxy
        var dumped = ""
        dump(configuration, to: &dumped)
        for text in ["\(proxy)", String(reflecting: proxy), "\(configuration)", dumped] {
            #expect(!text.contains("hunter2"))
        }
        #expect(dumped.contains("proxy.example"))
    }

    @Test("A server name is a name, also behind a proxy") func serverName() throws {
        var configuration = APNsConnector.Configuration(endpoint: try APNsEndpoint("https://10.0.0.7"))
        configuration.proxy = try ProxyServer("socks5://10.0.0.1")
        _ = try APNsConnector(configuration)
        configuration.serverName = "push.example"
        _ = try APNsConnector(configuration)
        configuration.serverName = "10.0.0.7"
        #expect(throws: APNsConfigurationError.self) { try APNsConnector(configuration) }
    }
}
