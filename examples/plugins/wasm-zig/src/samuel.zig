//! What a plugin for Samuel needs in Zig: the protocol, and the host functions.
//!
//! Every call has an instance of its own, so nothing is ever freed: all of it goes when the call is over.

const std = @import("std");

pub const allocator = std.heap.wasm_allocator;

const host = struct {
    extern "samuel" fn log(level: i32, at: [*]const u8, length: usize) void;
    extern "samuel" fn config_get(key: [*]const u8, length: usize) i64;
};

pub const Level = enum(i32) { debug, info, warning, err };

/// A line for the call's stderr.
pub fn log(level: Level, words: []const u8) void {
    host.log(@intFromEnum(level), words.ptr, words.len);
}

/// A setting of the plugin, parsed; null when there is none of that name.
pub fn setting(comptime T: type, key: []const u8) !?T {
    const packed_answer = host.config_get(key.ptr, key.len);
    if (packed_answer < 0) return null;
    return try parse(T, unpacked(packed_answer));
}

/// JSON as a value of this type. Keys that the type does not have do no harm.
pub fn parse(comptime T: type, json: []const u8) !T {
    return std.json.parseFromSliceLeaky(T, allocator, json, .{ .ignore_unknown_fields = true });
}

/// What a hook returns: a value that becomes JSON.
pub fn answer(value: anytype) !i64 {
    const json = try std.json.Stringify.valueAlloc(allocator, value, .{ .emit_null_optional_fields = false });
    return @bitCast(@as(u64, @intFromPtr(json.ptr)) << 32 | json.len);
}

fn unpacked(answered: i64) []const u8 {
    const bits: u64 = @bitCast(answered);
    const length: usize = @intCast(bits & 0xffff_ffff);
    if (length == 0) return "";
    const at: [*]const u8 = @ptrFromInt(@as(usize, @intCast(bits >> 32)));
    return at[0..length];
}

export fn samuel_alloc(size: usize) ?[*]u8 {
    const room = allocator.alloc(u8, size) catch return null;
    return room.ptr;
}

export fn samuel_protocol_version() i32 {
    return 1;
}

/// Say why before the trap, so that it is in the journal.
pub fn crash(words: []const u8) noreturn {
    log(.err, words);
    @trap();
}
