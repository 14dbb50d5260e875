import Holdfast
import HoldfastAPNs

func connectorWithCertificate() async throws -> APNsConnector {
    var configuration = APNsConnector.Configuration(
        endpoint: .production,
        clientCertificate: .pkcs12(.file("/etc/holdfast/push.p12"), passphrase: .file("/etc/holdfast/push.txt")))
    configuration.reloadEvery = .seconds(60)  // nil: only when asked
    let connector = try APNsConnector(configuration)
    print(connector.limits.topics ?? [])  // what the certificate is good for
    try await connector.reload()
    return connector
}
