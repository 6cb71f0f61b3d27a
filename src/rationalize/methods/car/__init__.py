"""Class-wise adversarial rationalization."""

from rationalize.methods.car.car import CAR as CAR
