import Configuration
import HoldfastService

/// A file, and over it what the application's own configuration says under `holdfast`.
func configuration(file: String, over config: ConfigReader) throws -> HoldfastConfiguration {
    let config = config.scoped(to: "holdfast")
    return try HoldfastConfiguration(file: file) { key in
        config.string(forKey: ConfigKey(key.path), isSecret: key.isSecret)
    }
}
