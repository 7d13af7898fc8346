"""TD3 (Fujimoto et al., 2018) with the default networks of Stable-Baselines3, on a simulated
walker. A sample is a step of the simulation. After each step, the networks learn from a batch."""

import copy

import torch
from torch import nn
from torch.nn import functional

from models.walker import ACTIONS, OBSERVED, Walker

DISCOUNT = 0.99  # discount factor of later rewards
FOLLOW = 0.005  # fraction by which the target networks approach the trained networks in each step
# Standard deviations of the noise that is added to actions and to target actions, and the maximum of the latter noise.
NOISE, TARGET_NOISE, MOST_NOISE = 0.1, 0.2, 0.5
DELAY = 2  # number of steps of the critics for each step of the actor


def layers(inputs, outputs, widths):
    first, second = widths
    return nn.Sequential(
        nn.Linear(inputs, first), nn.ReLU(), nn.Linear(first, second), nn.ReLU(), nn.Linear(second, outputs)
    )


class Memory:
    """The most recent steps, in host memory."""

    def __init__(self, capacity):
        self.rows = torch.zeros(capacity, 2 * OBSERVED + ACTIONS + 2)
        self.count = 0

    def add(self, before, action, reward, is_over, after):
        row = [*before, *action, reward, float(is_over), *after]
        self.rows[self.count % len(self.rows)] = torch.tensor(row)
        self.count += 1

    def draw(self, batch, device):
        """Draws a batch of steps: the observations before each step, the actions, the rewards, whether each step was
        the last of its episode, and the observations after each step."""
        places = torch.randint(min(self.count, len(self.rows)), (batch,))
        drawn = self.rows[places].to(device)
        return drawn.split([OBSERVED, ACTIONS, 1, 1, OBSERVED], 1)


class Td3:
    """Alternates between simulating a step and learning from a batch of earlier steps."""

    def __init__(self, setting):
        self.setting = setting
        self.random_steps = setting.size(100, 8)
        self.warm_steps = self.random_steps + 100
        widths = setting.size((400, 300), (32, 32))
        device = setting.device
        self.actor = nn.Sequential(layers(OBSERVED, ACTIONS, widths), nn.Tanh()).to(device)
        pair = [layers(OBSERVED + ACTIONS, 1, widths) for _ in range(2)]
        self.critics = nn.ModuleList(pair).to(device)
        self.models = [self.actor, self.critics]
        self.slow_actor, self.slow_critics = copy.deepcopy(self.actor), copy.deepcopy(self.critics)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_optimizer = torch.optim.Adam(self.critics.parameters(), lr=1e-3)
        self.memory = Memory(setting.size(200_000, 1000))
        self.walker = Walker(setting.group.rank)
        self.observed = self.walker.reset()
        self.steps = 0

    def step(self):
        """Simulates one step. After the initial random steps, also learns from a batch. Returns the number of
        samples."""
        self.act()
        self.steps += 1
        if self.steps > self.random_steps:
            self.learn()
        return 1

    @torch.no_grad()
    def act(self):
        if self.steps < self.random_steps:
            action = 2 * torch.rand(ACTIONS) - 1
        else:
            observed = torch.tensor(self.observed, device=self.setting.device)
            action = self.actor(observed).cpu() + NOISE * torch.randn(ACTIONS)
        action = action.clamp(-1, 1).tolist()
        after, reward, is_over = self.walker.step(action)
        self.memory.add(self.observed, action, reward, is_over, after)
        self.observed = self.walker.reset() if is_over else after

    def learn(self):
        before, actions, rewards, ends, after = self.memory.draw(self.setting.batch, self.setting.device)
        with torch.no_grad():
            noise = (TARGET_NOISE * torch.randn_like(actions)).clamp(-MOST_NOISE, MOST_NOISE)
            then = torch.cat([after, (self.slow_actor(after) + noise).clamp(-1, 1)], 1)
            value = torch.min(*(critic(then) for critic in self.slow_critics))
            target = rewards + (1 - ends) * DISCOUNT * value
        now = torch.cat([before, actions], 1)
        error = sum(functional.mse_loss(critic(now), target) for critic in self.critics)
        self.descend(error, self.critics, self.critic_optimizer)
        if self.steps % DELAY == 0:
            value = self.critics[0](torch.cat([before, self.actor(before)], 1))
            self.descend(-value.mean(), self.actor, self.actor_optimizer)
            self.follow()

    def descend(self, loss, network, optimizer):
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.setting.group.average(network.parameters())
        optimizer.step()

    @torch.no_grad()
    def follow(self):
        """Moves the target networks towards the trained networks."""
        for network, slow in [(self.actor, self.slow_actor), (self.critics, self.slow_critics)]:
            for new, old in zip(network.parameters(), slow.parameters()):
                old.lerp_(new, FOLLOW)


def build(_, setting):
    return Td3(setting)
