"""A control task: a body on two legs with four driven joints must walk. The task replaces
BipedalWalker, and has its own physics. There are 24 observed numbers, and four actions from -1 to 1."""

import math
import random

OBSERVED = 24
ACTIONS = 4  # torques on both hips and knees

STEP = 0.02  # seconds
GRAVITY = 9.8  # m/s²
BONE = 0.5  # length of each half of a leg, in m
DRIVE, FRICTION = 60.0, 6.0  # acceleration of a joint at full torque in rad/s², friction of a joint in 1/s
HIP, KNEE = (-0.8, 1.1), (-1.6, -0.1)  # range of each joint, in rad
# Coefficients of the ground's force on a foot, per unit of mass, for the depth in the ground (1/s²), the vertical speed
# (1/s) and the sliding speed (1/s).
STIFFNESS, DAMPING, GRIP = 300.0, 15.0, 25.0
RAYS = 10  # number of observed distances to the ground
FARTHEST = 5.0  # maximum observed distance to the ground, in m
LONGEST = 800  # maximum number of steps of an episode


class Leg:
    """A hip, a knee and a foot. Angles are measured from the vertical, and forward angles are positive."""

    def __init__(self, hip):
        self.hip, self.knee = hip, -0.4
        self.hip_speed = self.knee_speed = 0.0
        self.is_down = False

    def drive(self, hip, knee):
        """Applies torques from -1 to 1 to both joints for one step."""
        self.hip_speed += STEP * (DRIVE * hip - FRICTION * self.hip_speed)
        self.knee_speed += STEP * (DRIVE * knee - FRICTION * self.knee_speed)
        self.hip, self.hip_speed = turned(self.hip, self.hip_speed, HIP)
        self.knee, self.knee_speed = turned(self.knee, self.knee_speed, KNEE)

    def foot(self, lean):
        """The position of the foot relative to the hip, and its velocity due to the joints."""
        upper = lean + self.hip
        lower = upper + self.knee
        lower_speed = self.hip_speed + self.knee_speed
        x, y = BONE * (math.sin(upper) + math.sin(lower)), -BONE * (math.cos(upper) + math.cos(lower))
        vx = BONE * (math.cos(upper) * self.hip_speed + math.cos(lower) * lower_speed)
        vy = BONE * (math.sin(upper) * self.hip_speed + math.sin(lower) * lower_speed)
        return x, y, vx, vy

    def observed(self):
        return [self.hip, self.hip_speed, self.knee, self.knee_speed, float(self.is_down)]


def turned(angle, speed, bounds):
    """The angle and speed of a joint after a step. A joint stops at the ends of its range."""
    angle += STEP * speed
    if bounds[0] <= angle <= bounds[1]:
        return angle, speed
    return min(max(angle, bounds[0]), bounds[1]), 0.0


class Walker:
    """Simulates one walk at a time. `reset()` starts a walk, and `step(torques)` advances it."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def reset(self):
        draw = self.random.uniform
        self.x, self.y, self.lean = 0.0, 2 * BONE, draw(-0.05, 0.05)
        self.vx, self.vy, self.spin = draw(-0.1, 0.1), 0.0, 0.0
        self.legs = [Leg(draw(-0.1, 0.4)), Leg(draw(-0.1, 0.4))]
        self.steps = 0
        return self.observed()

    def step(self, torques):
        """Returns the new observation, the reward, and whether the episode is over."""
        ax, ay, turn = 0.0, -GRAVITY, 0.0
        for leg, hip, knee in zip(self.legs, torques[::2], torques[1::2]):
            leg.drive(hip, knee)
            x, y, vx, vy = leg.foot(self.lean)
            depth = -(self.y + y)
            leg.is_down = depth > 0
            # The torque that drives a leg forwards turns the body backwards.
            turn -= 0.1 * DRIVE * hip
            if depth > 0:
                sliding, sinking = self.vx + vx - self.spin * y, self.vy + vy + self.spin * x
                push = max(STIFFNESS * depth - DAMPING * sinking, 0.0)
                grip = -min(max(GRIP * sliding, -push), push)
                ax, ay = ax + grip, ay + push
                turn += 0.5 * (x * push - y * grip)
        self.vx, self.vy, self.spin = self.vx + STEP * ax, self.vy + STEP * ay, self.spin + STEP * turn
        self.x, self.y, self.lean = self.x + STEP * self.vx, self.y + STEP * self.vy, self.lean + STEP * self.spin
        self.steps += 1
        effort = sum(abs(torque) for torque in torques)
        reward = 4 * STEP * self.vx - 0.2 * abs(self.lean) * STEP - 0.01 * effort
        has_fallen = self.y < BONE or abs(self.lean) > 1
        return self.observed(), reward - 100 * has_fallen, has_fallen or self.steps >= LONGEST

    def observed(self):
        body = [self.lean, self.spin, self.vx, self.vy]
        return body + self.legs[0].observed() + self.legs[1].observed() + self.distances()

    def distances(self):
        """Distances to the ground along rays whose angles range from straight down to 1.5 rad forwards."""
        angles = [1.5 * ray / (RAYS - 1) + self.lean for ray in range(RAYS)]
        return [min(self.y / max(math.cos(angle), 1e-3), FARTHEST) for angle in angles]
