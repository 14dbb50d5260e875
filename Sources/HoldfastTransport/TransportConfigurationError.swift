/// A fault in a configuration; each connector reports it in an error of its own.
package struct TransportConfigurationError: Error, Hashable, Sendable {
    package let message: String
    package init(_ message: String) { self.message = message }
}
