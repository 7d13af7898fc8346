"""A control task: a craft with a main engine and two small engines must land on its legs. The task
replaces LunarLander, and has its own physics. There are eight observed numbers and four actions."""

import math
import random

OBSERVED = 8
ACTIONS = 4  # none, turn left, main engine, turn right

STEP = 0.04  # seconds
GRAVITY = 1.6  # m/s²
THRUST = 3.2  # acceleration by the main engine along the axis of the craft, in m/s²
SPIN = 1.5  # angular acceleration by a small engine, in rad/s²
LEGS = [(-0.5, -0.4), (0.5, -0.4)]  # positions of the feet relative to the craft, in m
# Coefficients of the ground's force on a foot, per unit of mass, for the depth in the ground (1/s²), the vertical speed
# (1/s) and the sliding speed (1/s).
STIFFNESS, DAMPING, GRIP = 60.0, 6.0, 4.0
LONGEST = 400  # maximum number of steps of an episode


class Lander:
    """Simulates one landing at a time. `reset()` starts a landing, and `step(action)` advances it."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def reset(self):
        draw = self.random.uniform
        self.x, self.y, self.angle = draw(-2, 2), draw(6, 8), draw(-0.3, 0.3)
        self.vx, self.vy, self.spin = draw(-1, 1), draw(-1, 0), draw(-0.2, 0.2)
        self.feet = [False, False]
        self.steps = 0
        self.worth = self.value()
        return self.observed()

    def step(self, action):
        """Returns the new observation, the reward, and whether the episode is over."""
        sine, cosine = math.sin(self.angle), math.cos(self.angle)
        ax, ay, turn = 0.0, -GRAVITY, 0.0
        if action == 2:
            ax, ay = ax - THRUST * sine, ay + THRUST * cosine
        elif action in (1, 3):
            turn = SPIN if action == 1 else -SPIN
        for foot, (along, up) in enumerate(LEGS):
            arm_x, arm_y = along * cosine - up * sine, along * sine + up * cosine
            depth = -(self.y + arm_y)
            self.feet[foot] = depth > 0
            if depth > 0:
                sliding, sinking = self.vx - self.spin * arm_y, self.vy + self.spin * arm_x
                push = max(STIFFNESS * depth - DAMPING * sinking, 0.0)
                grip = -GRIP * sliding
                ax, ay = ax + grip, ay + push
                turn += 3 * (arm_x * push - arm_y * grip)
        self.vx, self.vy, self.spin = self.vx + STEP * ax, self.vy + STEP * ay, self.spin + STEP * turn
        self.x, self.y, self.angle = self.x + STEP * self.vx, self.y + STEP * self.vy, self.angle + STEP * self.spin
        self.steps += 1
        return self.observed(), *self.judged(action)

    def judged(self, action):
        """Returns the reward of the last step, and whether the episode is over."""
        worth = self.value()
        reward, self.worth = worth - self.worth, worth
        reward -= (0.0, 0.03, 0.3, 0.03)[action]  # fuel
        if abs(self.x) > 10 or self.y > 20 or self.y < 0.1 or abs(self.angle) > 2:
            return reward - 100, True
        speed = abs(self.vx) + abs(self.vy) + abs(self.spin)
        if all(self.feet) and speed < 0.05:
            return reward + 100, True
        return reward, self.steps >= LONGEST

    def value(self):
        """A value that is higher if the craft is closer to the middle, slower or more upright, or has more
        feet on the ground."""
        far, fast = math.hypot(self.x, self.y), math.hypot(self.vx, self.vy)
        return -10 * far - 10 * fast - 30 * abs(self.angle) + 10 * sum(self.feet)

    def observed(self):
        moving = [self.vx, self.vy, self.angle, self.spin]
        return [self.x, self.y, *moving, float(self.feet[0]), float(self.feet[1])]
