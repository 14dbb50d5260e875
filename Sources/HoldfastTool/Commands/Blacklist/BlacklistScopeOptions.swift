internal import ArgumentParser
internal import Holdfast
internal import HoldfastAPNs
internal import HoldfastLegacyAPNs

/// For which notifications an entry of the blacklist holds.
struct BlacklistScopeOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp("The topic of the notifications. (default: every topic)", valueName: "topic"))
    var topic: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The push service: `production`, `sandbox` or a URL. (default: every service)",
            valueName: "service"),
        transform: serviceIdentity)
    var endpoint: String?

    var isEmpty: Bool { topic == nil && endpoint == nil }

    func validate() throws {
        guard (1...255).contains(topic?.utf8.count ?? 1) else { throw ValidationError("--topic has 1 to 255 bytes.") }
    }

    /// The push service by the name that the blacklist has for it.
    @Sendable static func serviceIdentity(_ text: String) throws -> String {
        guard text.utf8.count <= 512 else { throw ValidationError("It has at most 512 bytes.") }
        if text.hasPrefix("binary://") || text.hasPrefix("binary+tls://") {
            do throws(LegacyAPNsConfigurationError) {
                return try LegacyAPNsEndpoint(text).description
            } catch {
                throw ValidationError(error.message)
            }
        }
        // A connector of a program's own names its service as it likes.
        if text.contains("://"), !text.hasPrefix("http") { return text }
        do throws(APNsConfigurationError) {
            return try APNsEndpoint(text).service
        } catch {
            throw ValidationError(error.message)
        }
    }
}
