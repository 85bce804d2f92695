USERS = {"ada": 1}


def user_id(name: str) -> int:
    return USERS[name.strip()]


def greeting(name: str) -> str:
    return "Hello, user " + user_id(name)  # the failing line: text and number
