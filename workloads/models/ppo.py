"""PPO (Schulman et al., 2017) with the default settings of Stable-Baselines3, on a simulated
lander.

A sample is a step of the simulation. A step counts as one eleventh of a sample when it is
simulated, and as another eleventh in each of the ten epochs that learn from it, so that the count
rises evenly."""

import torch
from torch import nn

from models.lander import ACTIONS, OBSERVED, Lander

DISCOUNT, TRACE = 0.99, 0.95  # discount factors of later rewards and of later advantages
CLIP = 0.2  # maximum relative change of an action's probability in a step
LARGEST_GRADIENT = 0.5


def layers(outputs):
    return nn.Sequential(
        nn.Linear(OBSERVED, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs)
    )


class Ppo:
    """Alternates between simulating a number of steps and learning from these steps."""

    def __init__(self, setting):
        self.setting = setting
        self.length = setting.size(2048, 64)
        self.epochs = setting.size(10, 2)
        # Number of calls of step() in one round of simulating and learning.
        self.warm_steps = self.length + self.epochs * -(-self.length // setting.batch)
        self.actor = layers(ACTIONS).to(setting.device)
        self.critic = layers(1).to(setting.device)
        self.models = [self.actor, self.critic]
        self.parameters = [*self.actor.parameters(), *self.critic.parameters()]
        self.optimizer = torch.optim.Adam(self.parameters, lr=3e-4, eps=1e-5)
        self.lander = Lander(setting.group.rank)
        self.observed = self.lander.reset()
        self.work = self.rounds()

    def step(self):
        """Simulates one step, or learns from a batch. Returns the number of samples."""
        return next(self.work)

    def rounds(self):
        share = 1 / (1 + self.epochs)
        while True:
            played = []
            for _ in range(self.length):
                played.append(self.play())
                yield share
            seen = self.judge(played)
            for _ in range(self.epochs):
                for part in torch.randperm(self.length).split(self.setting.batch):
                    part = part.to(self.setting.device)
                    self.learn(*(one[part] for one in seen))
                    yield share * len(part)

    @torch.no_grad()
    def play(self):
        """Takes an action. Returns the preceding observation, the action, its log-probability, the
        critic's value, the reward, and whether the episode has ended."""
        observed = torch.tensor(self.observed, device=self.setting.device)
        choice = torch.distributions.Categorical(logits=self.actor(observed))
        action = choice.sample()
        expected = self.critic(observed)
        self.observed, reward, is_over = self.lander.step(int(action))
        if is_over:
            self.observed = self.lander.reset()
        return observed, action, choice.log_prob(action), expected, reward, is_over

    @torch.no_grad()
    def judge(self, played):
        """Returns the simulated steps as tensors, with the advantage and the return of each action."""
        observed, actions, likely, expected, rewards, ends = zip(*played)
        last = self.critic(torch.tensor(self.observed, device=self.setting.device))
        values = torch.cat([*expected, last]).tolist()
        advantage, advantages = 0.0, []
        for step in reversed(range(self.length)):
            goes_on = 1.0 - ends[step]
            surprise = rewards[step] + DISCOUNT * goes_on * values[step + 1] - values[step]
            advantage = surprise + DISCOUNT * TRACE * goes_on * advantage
            advantages.append(advantage)
        advantages = torch.tensor(advantages[::-1], device=self.setting.device)
        returns = advantages + torch.cat(expected)
        return torch.stack(observed), torch.stack(actions), torch.stack(likely), advantages, returns

    def learn(self, observed, actions, likely, advantages, returns):
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        choice = torch.distributions.Categorical(logits=self.actor(observed))
        ratio = (choice.log_prob(actions) - likely).exp()
        gain = torch.min(advantages * ratio, advantages * ratio.clamp(1 - CLIP, 1 + CLIP))
        error = nn.functional.mse_loss(self.critic(observed).squeeze(1), returns)
        self.optimizer.zero_grad(set_to_none=True)
        (0.5 * error - gain.mean()).backward()
        self.setting.group.average(self.parameters)
        nn.utils.clip_grad_norm_(self.parameters, LARGEST_GRADIENT)
        self.optimizer.step()


def build(_, setting):
    return Ppo(setting)
