import type { ComponentChildren } from 'preact'

const Icon = ({ children }: { children: ComponentChildren }) => (
  <svg class="icon" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
    {children}
  </svg>
)

const Round = () => <circle cx="10" cy="10" r="8" />

export const CheckIcon = () => (
  <Icon>
    <Round />
    <path d="m6.5 10.3 2.4 2.4 4.6-5" />
  </Icon>
)

export const ProblemIcon = () => (
  <Icon>
    <Round />
    <path d="M10 5.8v5M10 13.9v.2" />
  </Icon>
)

export const InfoIcon = () => (
  <Icon>
    <Round />
    <path d="M10 9.2v5M10 6.1v.2" />
  </Icon>
)

export const ClockIcon = () => (
  <Icon>
    <Round />
    <path d="M10 5.6V10l3 2" />
  </Icon>
)

export const EyeIcon = () => (
  <Icon>
    <path d="M2 10s3-5.5 8-5.5 8 5.5 8 5.5-3 5.5-8 5.5S2 10 2 10z" />
    <circle cx="10" cy="10" r="2.5" />
  </Icon>
)

export const EyeOffIcon = () => (
  <Icon>
    <path d="M8.2 4.7A8 8 0 0 1 10 4.5c5 0 8 5.5 8 5.5a15 15 0 0 1-2 2.7M5.5 6.1A14 14 0 0 0 2 10s3 5.5 8 5.5a7.6 7.6 0 0 0 4-1.1M8.3 8.4a2.5 2.5 0 0 0 3.4 3.4M3.2 3.2l13.6 13.6" />
  </Icon>
)

export const KeyIcon = () => (
  <Icon>
    <circle cx="6.5" cy="13.5" r="3.5" />
    <path d="m9 11 7.5-7.5M13 7l2.5 2.5" />
  </Icon>
)
