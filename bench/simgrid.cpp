// Programs of ranks on SimGrid: what `bench/simgrid.py` translates, read from standard input.
//
//   ranks N
//   route SRC DST LATENCY BYTES_PER_SECOND OUT_PORT IN_PORT      for each pair that talks
//   rank R
//   block TIMES                     what follows, so many times
//     compute SECONDS | send DST BYTES | receive SRC | wait | take SRC
//   end
//
// `send` and `receive` begin a message, `wait` ends all that were begun, `take` is a receive that is
// waited for at once. Prints when each rank is done.

#include <cstdio>
#include <iostream>
#include <map>
#include <simgrid/s4u.hpp>
#include <string>
#include <tuple>
#include <vector>

namespace sg4 = simgrid::s4u;

struct Op {
  char kind;
  int peer;
  double amount;
};
struct Block {
  long times;
  std::vector<Op> ops;
};
struct Pair {
  sg4::Mailbox* mailbox;
  sg4::SemaphorePtr asked;
  double bandwidth;
  int port;
};

static std::map<std::pair<int, int>, Pair> pairs;
static std::vector<std::vector<Block>> programs;
static std::vector<double> ends;
static std::vector<double> port_free;
static int token;

static void act(int rank) {
  std::vector<sg4::CommPtr> receives;
  std::vector<int*> buffers;
  double out = 0;
  std::vector<sg4::Semaphore*> asked;
  int* buffer = nullptr;
  for (auto& block : programs[rank])
    for (long turn = 0; turn < block.times; turn++)
      for (auto& op : block.ops) {
        if (op.kind == 'c') {
          sg4::this_actor::sleep_for(op.amount);
        } else if (op.kind == 's') {
          auto& pair = pairs.at({rank, op.peer});
          pair.mailbox->put_init(&token, op.amount)->detach();
          double& free = port_free[pair.port];
          free = std::max(free, sg4::Engine::get_clock()) + op.amount / pair.bandwidth;
          out = std::max(out, free);
          asked.push_back(pair.asked.get());
        } else if (op.kind == 'r' || op.kind == 't') {
          auto& pair = pairs.at({op.peer, rank});
          pair.asked->release();
          auto comm = pair.mailbox->get_async<int>(&buffer);
          if (op.kind == 't')
            comm->wait();
          else
            receives.push_back(comm);
        } else {
          for (auto& comm : receives)
            comm->wait();
          for (auto* one : asked)
            one->acquire();
          receives.clear();
          asked.clear();
          if (out > sg4::Engine::get_clock())
            sg4::this_actor::sleep_for(out - sg4::Engine::get_clock());
        }
      }
  ends[rank] = sg4::Engine::get_clock();
}

int main(int argc, char** argv) {
  sg4::Engine engine(&argc, argv);
  auto* zone = sg4::create_full_zone("cluster");
  std::vector<sg4::Host*> hosts;
  std::map<int, sg4::Link*> outs, ins;
  std::map<double, sg4::Link*> wires;
  std::vector<std::tuple<int, int>> talks;
  std::string word;
  int rank = 0;
  while (std::cin >> word) {
    if (word == "ranks") {
      int count;
      std::cin >> count;
      programs.resize(count);
      ends.resize(count);
      for (int i = 0; i < count; i++)
        hosts.push_back(zone->create_host("rank" + std::to_string(i), 1e9));
    } else if (word == "route") {
      int src, dst, out, in;
      double latency, bandwidth;
      std::cin >> src >> dst >> latency >> bandwidth >> out >> in;
      if (!outs.count(out))
        outs[out] = zone->create_link("out" + std::to_string(out), bandwidth)->seal();
      if (!ins.count(in))
        ins[in] = zone->create_link("in" + std::to_string(in), bandwidth)->seal();
      if (!wires.count(latency)) {  // carries any number of messages at once
        auto* wire = zone->create_link("wire" + std::to_string(wires.size()), 1e18);
        wire->set_latency(latency)->set_sharing_policy(sg4::Link::SharingPolicy::FATPIPE);
        wires[latency] = wire->seal();
      }
      zone->add_route(hosts[src]->get_netpoint(), hosts[dst]->get_netpoint(), nullptr, nullptr,
                      {sg4::LinkInRoute(outs[out]), sg4::LinkInRoute(wires[latency]),
                       sg4::LinkInRoute(ins[in])},
                      false);
      auto name = std::to_string(src) + ">" + std::to_string(dst);
      pairs[{src, dst}] = {sg4::Mailbox::by_name(name), sg4::Semaphore::create(0), bandwidth, out};
      if ((int)port_free.size() <= out)
        port_free.resize(out + 1);
    } else if (word == "rank") {
      std::cin >> rank;
    } else if (word == "block") {
      long times;
      std::cin >> times;
      programs[rank].push_back({times, {}});
    } else if (word == "end") {
      continue;
    } else {
      Op op{word[0], -1, 0};
      if (word == "compute")
        std::cin >> op.amount;
      else if (word == "send")
        std::cin >> op.peer >> op.amount;
      else if (word != "wait")
        std::cin >> op.peer;
      programs[rank].back().ops.push_back(op);
    }
  }
  zone->seal();
  for (size_t i = 0; i < hosts.size(); i++) {
    auto actor = sg4::Actor::create("rank" + std::to_string(i), hosts[i], act, (int)i);
    for (auto& [who, pair] : pairs)
      if (who.second == (int)i)
        pair.mailbox->set_receiver(actor);  // messages leave when they are sent, not when asked for
  }
  engine.run();
  for (double end : ends)
    std::printf("%.12g\n", end);
}
