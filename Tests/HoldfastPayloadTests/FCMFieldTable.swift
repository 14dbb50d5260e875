/// The fields of `Message` and of all that it holds, by Google's discovery document `fcm.v1`, revision 20261023. Made by `Scripts/fcm-fields`.
///
/// `a|b` is one of these words, `[t]` an array, `{t}` an object with names of one's own.
enum FCMFieldTable {
    static let text = """
        Message.android: AndroidConfig
        Message.androidV2: AndroidConfigV2
        Message.apns: ApnsConfig
        Message.condition: string
        Message.data: {string}
        Message.fcmOptions: FcmOptions
        Message.fid: string
        Message.name: string
        Message.notification: Notification
        Message.token: string
        Message.topic: string
        Message.webpush: WebpushConfig
        AndroidConfig.bandwidthConstrainedOk: boolean
        AndroidConfig.collapseKey: string
        AndroidConfig.data: {string}
        AndroidConfig.directBootOk: boolean
        AndroidConfig.fcmOptions: AndroidFcmOptions
        AndroidConfig.notification: AndroidNotification
        AndroidConfig.priority: NORMAL|HIGH
        AndroidConfig.restrictedPackageName: string
        AndroidConfig.restrictedSatelliteOk: boolean
        AndroidConfig.ttl: string google-duration
        AndroidFcmOptions.analyticsLabel: string
        AndroidNotification.body: string
        AndroidNotification.bodyLocArgs: [string]
        AndroidNotification.bodyLocKey: string
        AndroidNotification.bypassProxyNotification: boolean
        AndroidNotification.channelId: string
        AndroidNotification.clickAction: string
        AndroidNotification.color: string
        AndroidNotification.defaultLightSettings: boolean
        AndroidNotification.defaultSound: boolean
        AndroidNotification.defaultVibrateTimings: boolean
        AndroidNotification.eventTime: string google-datetime
        AndroidNotification.icon: string
        AndroidNotification.image: string
        AndroidNotification.lightSettings: LightSettings
        AndroidNotification.localOnly: boolean
        AndroidNotification.notificationCount: integer int32
        AndroidNotification.notificationPriority: PRIORITY_UNSPECIFIED|PRIORITY_MIN|PRIORITY_LOW|PRIORITY_DEFAULT|PRIORITY_HIGH|PRIORITY_MAX
        AndroidNotification.proxy: PROXY_UNSPECIFIED|ALLOW|DENY|IF_PRIORITY_LOWERED
        AndroidNotification.sound: string
        AndroidNotification.sticky: boolean
        AndroidNotification.tag: string
        AndroidNotification.ticker: string
        AndroidNotification.title: string
        AndroidNotification.titleLocArgs: [string]
        AndroidNotification.titleLocKey: string
        AndroidNotification.vibrateTimings: [string google-duration]
        AndroidNotification.visibility: VISIBILITY_UNSPECIFIED|PRIVATE|PUBLIC|SECRET
        LightSettings.color: Color
        LightSettings.lightOffDuration: string google-duration
        LightSettings.lightOnDuration: string google-duration
        Color.alpha: number float
        Color.blue: number float
        Color.green: number float
        Color.red: number float
        AndroidConfigV2.backgroundSync: AndroidBackgroundSyncMessage
        AndroidConfigV2.bandwidthConstrainedOk: boolean
        AndroidConfigV2.collapseKey: string
        AndroidConfigV2.data: {string}
        AndroidConfigV2.directBootOk: boolean
        AndroidConfigV2.fcmOptions: AndroidFcmOptions
        AndroidConfigV2.remoteNotification: AndroidRemoteNotification
        AndroidConfigV2.restrictedPackageName: string
        AndroidConfigV2.restrictedSatelliteOk: boolean
        AndroidConfigV2.ttl: string google-duration
        AndroidRemoteNotification.mutableContent: boolean
        AndroidRemoteNotification.notification: AndroidNotificationV2
        AndroidRemoteNotification.useAsV1DataMessage: boolean
        AndroidNotificationV2.body: string
        AndroidNotificationV2.bodyLocArgs: [string]
        AndroidNotificationV2.bodyLocKey: string
        AndroidNotificationV2.channelId: string
        AndroidNotificationV2.clickAction: string
        AndroidNotificationV2.color: string
        AndroidNotificationV2.defaultLightSettings: boolean
        AndroidNotificationV2.defaultSound: boolean
        AndroidNotificationV2.defaultVibrateTimings: boolean
        AndroidNotificationV2.eventTime: string google-datetime
        AndroidNotificationV2.icon: string
        AndroidNotificationV2.id: integer int32
        AndroidNotificationV2.image: string
        AndroidNotificationV2.lightSettings: GoogleFirebaseFcmV1AndroidNotificationV2LightSettings
        AndroidNotificationV2.localOnly: boolean
        AndroidNotificationV2.notificationCount: integer int32
        AndroidNotificationV2.notificationPriority: PRIORITY_UNSPECIFIED|PRIORITY_MIN|PRIORITY_LOW|PRIORITY_DEFAULT|PRIORITY_HIGH|PRIORITY_MAX
        AndroidNotificationV2.sound: string
        AndroidNotificationV2.sticky: boolean
        AndroidNotificationV2.tag: string
        AndroidNotificationV2.ticker: string
        AndroidNotificationV2.title: string
        AndroidNotificationV2.titleLocArgs: [string]
        AndroidNotificationV2.titleLocKey: string
        AndroidNotificationV2.vibrateTimings: [string google-duration]
        AndroidNotificationV2.visibility: VISIBILITY_UNSPECIFIED|PRIVATE|PUBLIC|SECRET
        GoogleFirebaseFcmV1AndroidNotificationV2LightSettings.color: Color
        GoogleFirebaseFcmV1AndroidNotificationV2LightSettings.lightOffDuration: string google-duration
        GoogleFirebaseFcmV1AndroidNotificationV2LightSettings.lightOnDuration: string google-duration
        ApnsConfig.fcmOptions: ApnsFcmOptions
        ApnsConfig.headers: {string}
        ApnsConfig.liveActivityToken: string
        ApnsConfig.payload: {any}
        ApnsFcmOptions.analyticsLabel: string
        ApnsFcmOptions.image: string
        FcmOptions.analyticsLabel: string
        Notification.body: string
        Notification.image: string
        Notification.title: string
        WebpushConfig.data: {string}
        WebpushConfig.fcmOptions: WebpushFcmOptions
        WebpushConfig.headers: {string}
        WebpushConfig.notification: {any}
        WebpushFcmOptions.analyticsLabel: string
        WebpushFcmOptions.link: string
        """
}
