"""`samuel emit`: one event from another program, answered; by a process of its own or by a server that stays."""
