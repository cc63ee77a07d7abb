/** What every view is written with: `html` templates, hooks and signals. */

import { Component, Fragment, h, render } from "preact";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { batch, computed, effect, signal, untracked, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import htm from "htm";

export const html = htm.bind(h);

export {
  batch,
  Component,
  computed,
  effect,
  Fragment,
  h,
  render,
  signal,
  untracked,
  useCallback,
  useComputed,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useSignal,
  useSignalEffect,
  useState,
};

/** Join the class names that hold: `classes("row", isOpen && "open")`. */
export function classes(...names) {
  return names.filter(Boolean).join(" ");
}

/**
 * Load something when what it depends on changes, after a pause; what came too late is dropped.
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} load
 * @param {unknown[]} inputs
 * @param {number} pauseMs
 * @returns {{value: T | undefined, error: Error | null, isLoading: boolean}} the value stays while it is loaded anew
 */
export function useLoaded(load, inputs, pauseMs = 0) {
  const [state, setState] = useState({ value: undefined, error: null, isLoading: true });
  useEffect(() => {
    const leaving = new AbortController();
    setState((old) => ({ ...old, isLoading: true }));
    const begin = () =>
      load(leaving.signal).then(
        (value) => leaving.signal.aborted || setState({ value, error: null, isLoading: false }),
        (error) => leaving.signal.aborted || setState((old) => ({ ...old, error, isLoading: false })),
      );
    const timer = pauseMs ? setTimeout(begin, pauseMs) : begin() && 0;
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, inputs);
  return state;
}

/** Do something after a pause in which nothing further was asked for. */
export function debounce(act, delayMs) {
  let timer = 0;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => act(...args), delayMs);
  };
}
