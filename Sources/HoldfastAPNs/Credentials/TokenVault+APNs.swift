internal import HoldfastRequests
internal import HoldfastTransport

extension TokenVault where Contents == Credentials {
    /// - Throws: ``APNsConfigurationError`` that names the file that is missing, or is not what it should be.
    convenience init(_ configuration: APNsConnector.Configuration) throws(APNsConfigurationError) {
        do throws(TransportConfigurationError) {
            try self.init(
                files: configuration.credentialFiles, reloadEvery: configuration.reloadEvery,
                clock: configuration.clock
            ) { (generation) throws(TransportConfigurationError) in
                do throws(APNsConfigurationError) {
                    return try Credentials(configuration, generation: generation)
                } catch {
                    throw TransportConfigurationError(error.message)
                }
            }
        } catch {
            throw APNsConfigurationError(error.message)
        }
    }
}
