import Foundation
import Holdfast
import HoldfastControl
import HoldfastRequests
import Logging

@testable import HoldfastWebhooks

enum Samples {
    static let secret = "whsec_QWxsIHRoYXQgd2FzIGFjY2VwdGVkIGlzIHRvbGQu"
    static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    static func configuration(
        to url: String = "http://127.0.0.1:1/told?key=hidden", batch: Int = 500
    ) throws -> WebhookConfiguration {
        var configuration = WebhookConfiguration(
            name: "crm", address: try PostAddress(webhook: url), secret: try WebhookSecret(secret))
        configuration.batch = batch
        return configuration
    }

    /// As a service writes outcomes.
    static let write: Webhook.Writer = { try Form.line(OutcomeForm($0)) }

    static func notification(_ number: Int) throws -> PushNotification {
        var notification = PushNotification(
            token: try DeviceToken(String(repeating: "0", count: 56) + String(format: "%08x", number)),
            topic: "com.example.app", payload: Array(#"{"aps":{}}"#.utf8))
        notification.id = NotificationID(high: 1, low: UInt64(number))
        return notification
    }
}
