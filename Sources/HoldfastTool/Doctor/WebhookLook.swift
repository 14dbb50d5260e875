internal import Holdfast
internal import HoldfastService
internal import HoldfastTransport

/// Goes the way to a webhook's receiver as far as TLS; sends nothing.
enum WebhookLook {
    static func look(_ settings: WebhookSettings) async -> RouteFacts {
        var facts = RouteFacts(area: .webhooks, name: settings.name, endpoint: "")
        let dialer: Dialer
        do { dialer = try ReadyWebhook(settings).dialer(within: DoctorLimits.connect) } catch {
            facts.credentials = .unusable("\(error)")
            return facts
        }
        facts.endpoint = dialer.endpoint
        facts.isCleartext = dialer.tls == nil
        facts.proxy = dialer.proxy.map { "\($0)" }
        async let addresses = AddressLook.look(dialer.proxy?.host ?? dialer.host, dialer.proxy?.port ?? dialer.port)
        facts.take(await dialer.examine())
        facts.addresses = await addresses
        return facts
    }
}
