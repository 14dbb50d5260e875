import ssl, sys, httpx
gateway, authority, token, notification_id = sys.argv[1:]
with httpx.Client(http1=False, http2=True, verify=ssl.create_default_context(cafile=authority)) as client:
    try:
        answer = client.post(
            f"{gateway}/3/device/{token}", json={"aps": {"alert": "Hi from Python"}},
            headers={"apns-topic": "com.example.app", "apns-push-type": "alert", "apns-id": notification_id})
    except httpx.TransportError as error:
        sys.exit(f"no answer: {error}")
    print(answer.status_code, answer.headers.get("apns-id"), answer.text)
