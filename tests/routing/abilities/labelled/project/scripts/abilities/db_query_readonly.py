def run(tool_input):
    return {"status": "success", "details": tool_input["target"]}
