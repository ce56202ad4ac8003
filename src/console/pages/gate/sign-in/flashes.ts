import { flash } from '../parts.ts'

export const FLASHES = new Map(
  Object.entries({
    on: flash.good('Switched on.'),
    off: flash.good('Switched off.'),
    urls: flash.good('Return URLs saved.'),
  }),
)
